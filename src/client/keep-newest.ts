/** Keeps it as the newest, and at most so many: the oldest goes. */
export function keepNewest<K, V>(kept: Map<K, V>, key: K, value: V, atMost: number): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > atMost) kept.delete(oldest);
}
