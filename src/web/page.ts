import { signal } from "@preact/signals";
import { createApi } from "../client/api.ts";
import { Refused } from "../contract/refusals/refused.ts";
import { createCode, signOut as endSignIn, signIn as redeemCode, whoAmI } from "../contract/routes/sign-in.ts";
import { createPageWorker } from "./install/page-worker.ts";
import { createAnnouncer } from "./shared/announcer.tsx";
import { createClock } from "./shared/clock.ts";
import { createNotifier } from "./shared/notification.ts";
import type { SharedParts } from "./shared/parts.ts";
import { createPreferences } from "./shared/preferences.ts";
import { reasonOf } from "./shared/reason.ts";
import { codeIn, createRouter } from "./shared/route.ts";
import { createSound } from "./shared/sound.ts";
import { createTabs } from "./shared/tabs.ts";
import { createTokenStore } from "./shared/token.ts";
import { createUser, type User } from "./user.ts";

export type Page = ReturnType<typeof createPage>;

export const WORDS = {
  unreachable: (_url: string, cause: unknown) => `Plexus does not answer (${reasonOf(cause)}).`,
  noPlexus: (_url: string, status: number) => `The server answered ${status}.`,
  otherVersion: () => "The server answered what this page does not understand: reload it.",
};

/** The page: the parts for every visitor, and the signed-in user. */
export function createPage() {
  const announcer = createAnnouncer();
  const preferences = createPreferences();
  const shared: SharedParts = {
    announcer,
    preferences,
    now: createClock(),
    router: createRouter(),
    notifier: createNotifier({ preferences, announcer }),
    sound: createSound(preferences),
    worker: createPageWorker(),
  };
  const token = createTokenStore(preferences);
  const apiWith = (secret: () => string | undefined) =>
    createApi({ server: () => ({ url: "", token: secret() }), fetch: fetchUncached, words: WORDS, door: "page" });
  const api = apiWith(token.get);
  const user = signal<User | undefined>(undefined);
  const tabs = createTabs({
    token: () => (user.peek() === undefined ? undefined : token.get()),
    onSignedOut: (ended) => void follow(ended),
  });
  /** Why no one is signed in; `undefined` while that is unknown. */
  const notSignedIn = signal<string | undefined>(undefined);

  function leave(): { unsent: number } {
    const unsent = user.peek()?.dispose() ?? 0;
    user.value = undefined;
    return { unsent };
  }

  /** The server no longer accepts our token, so drop everything that it showed us. */
  function signedOut(reason: string): void {
    token.keep(undefined);
    const { unsent } = leave();
    const pending = unsent > 0 ? ` You were signed out before ${denials(unsent)} sent: decide again.` : "";
    notSignedIn.value = `${reason}${pending}`.trim();
  }

  /** Turns a pasted token into a code. The page then gets its own token, and never keeps the pasted one. */
  async function codeOf(pasted: string): Promise<string> {
    return (await apiWith(() => pasted).call(createCode)).code;
  }

  /** Redeems the code without a token: the server would refuse an expired one before reading the code. */
  async function redeem(code: string): Promise<void> {
    const signedIn = await apiWith(() => undefined).call(redeemCode, { body: { code } });
    await user.peek()?.deciding.holding.sendAll();
    leave();
    notSignedIn.value = undefined;
    token.keep(signedIn.token);
  }

  /** A signed-in user stays signed in if a code does not work. */
  function stay(cause: unknown): void {
    if (user.peek() === undefined && token.get() === undefined) throw cause;
    announcer.complain(reasonOf(cause));
  }

  /** Signs in with the code in the address, with this tab's token, or without any if the server requires none. */
  async function signIn(): Promise<void> {
    const code = shared.router.takeCode();
    try {
      if (code !== undefined) await redeem(code).catch(stay);
      const caller = await api.call(whoAmI).catch(async (cause: unknown) => {
        if (token.get() !== undefined || code !== undefined || !isSignedOut(cause)) throw cause;
        if (!(await tokenOfOtherTab())) throw cause;
        return api.call(whoAmI);
      });
      user.value ??= createUser({ caller, api, shared, onRefused: endIfSignedOut });
      notSignedIn.value = undefined;
    } catch (cause) {
      const reason = code !== undefined || token.get() !== undefined ? reasonOf(cause) : "";
      if (!endIfSignedOut(cause, reason)) notSignedIn.value = reason;
    }
  }

  /** Takes over the token of another tab that is signed in. */
  async function tokenOfOtherTab(): Promise<boolean> {
    const given = await tabs.askForToken();
    if (given === undefined || token.get() !== undefined) return false;
    token.keep(given);
    return true;
  }

  /** Another tab has signed out. If this tab had another token, end that one too. */
  async function follow(ended: string): Promise<void> {
    if (token.get() === undefined) return;
    if (token.get() !== ended) await api.call(endSignIn).catch(() => undefined);
    signedOut("");
  }

  /** Ends the session if the failure means that we are no longer signed in. */
  function endIfSignedOut(cause: unknown, reason = reasonOf(cause)): boolean {
    const isOver = isSignedOut(cause);
    if (isOver) signedOut(reason);
    return isOver;
  }

  return {
    ...shared,
    api,
    user,
    notSignedIn,
    signIn,
    /** Signs in with what a person pasted: a sign-in link or a token. */
    async signInWith(pasted: string): Promise<void> {
      try {
        await redeem(codeIn(pasted) ?? (await codeOf(pasted)));
      } catch (cause) {
        notSignedIn.value = reasonOf(cause);
        return;
      }
      await signIn();
    },
    async signOut(): Promise<void> {
      const ended = token.get();
      await user.peek()?.deciding.holding.sendAll();
      await user.peek()?.push.end();
      preferences.staysSignedIn.value = "no";
      await api.call(endSignIn).catch(() => undefined);
      if (ended !== undefined) tabs.tellSignedOut(ended);
      signedOut("");
    },
    /** Starts the page. */
    start(): void {
      shared.router.onLaterCode(() => void signIn());
      void signIn();
      shared.worker.onOpen((to) => {
        location.hash = to;
      });
      void shared.worker.registered();
    },
  };
}

function denials(count: number): string {
  return count === 1 ? "a denial was" : `${count} denials were`;
}

function isSignedOut(cause: unknown): boolean {
  return cause instanceof Refused && cause.status === 401;
}

export function fetchUncached(url: string, init: RequestInit): Promise<Response> {
  return fetch(url, { ...init, credentials: "omit", cache: "no-store" });
}
