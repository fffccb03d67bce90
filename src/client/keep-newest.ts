/** Stores the entry as the newest, and deletes the oldest beyond `atMost`. */
export function keepNewest<K, V>(kept: Map<K, V>, key: K, value: V, atMost: number): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > atMost) kept.delete(oldest);
}
