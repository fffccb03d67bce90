import { signal } from "@preact/signals";

const KEY = "plexus-token";

/** Who we are to the server; kept for this tab alone, and sent as a header, never as a cookie. */
export const token = signal<string | undefined>(sessionStorage.getItem(KEY) ?? undefined);

export function keepToken(secret: string | undefined): void {
  if (secret === undefined) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, secret);
  token.value = secret;
}

export function authorization(): Record<string, string> {
  return token.peek() === undefined ? {} : { Authorization: `Bearer ${token.peek()}` };
}
