/** A number with its noun. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString()} ${count === 1 ? thing : `${thing}s`}`;
}
