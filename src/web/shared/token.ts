const KEY = "plexus-token";

/** Who we are to the server; kept for this tab alone, and sent as a header, never as a cookie. */
export function createTokenStore() {
  let token = sessionStorage.getItem(KEY) ?? undefined;
  return {
    get: () => token,
    keep(secret: string | undefined): void {
      if (secret === undefined) sessionStorage.removeItem(KEY);
      else sessionStorage.setItem(KEY, secret);
      token = secret;
    },
  };
}
