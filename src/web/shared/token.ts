import { effect } from "@preact/signals";
import type { Preferences } from "./preferences.ts";

const KEY = "plexus-token";

/**
 * Our token: kept for this tab only, or for this browser if the person stays signed in. It is sent as a header, never
 * as a cookie.
 */
export function createTokenStore({ staysSignedIn }: Pick<Preferences, "staysSignedIn">) {
  let token = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? undefined;

  /** Only removes our own token, because another tab may have stored its own. */
  function forget(ended: string | undefined): void {
    if (localStorage.getItem(KEY) === (ended ?? null)) localStorage.removeItem(KEY);
  }

  function store(): void {
    const stays = staysSignedIn.value === "yes";
    if (token === undefined) return;
    if (stays) localStorage.setItem(KEY, token);
    else localStorage.removeItem(KEY);
  }

  effect(store);
  return {
    get: () => token,
    keep(secret: string | undefined): void {
      if (secret === undefined) {
        sessionStorage.removeItem(KEY);
        forget(token);
      } else sessionStorage.setItem(KEY, secret);
      token = secret;
      store();
    },
  };
}
