/** What fails is neither proven nor found. */
export function attempted<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
