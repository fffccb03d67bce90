/** Computes a value when it is first wanted, and keeps it. */
export function once<Value>(compute: () => Value): () => Value {
  let kept: { value: Value } | undefined;
  return () => {
    kept ??= { value: compute() };
    return kept.value;
  };
}
