/** So many of a thing, in words. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString()} ${count === 1 ? thing : `${thing}s`}`;
}
