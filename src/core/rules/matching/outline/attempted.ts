/** Runs a check that may throw. If it throws, the result is `undefined`: nothing is proven or found. */
export function attempted<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
