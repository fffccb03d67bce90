import { signal } from "@preact/signals";
import { z } from "zod";
import { Caller, SignedIn } from "../contract/sign-in.ts";
import { complain } from "./announcer.tsx";
import { hasCode, takeCode } from "./route.ts";
import { forgetCaller } from "./wire/callers-own.ts";
import { Refused, reasonOf, request } from "./wire/request.ts";
import { keepToken, token } from "./wire/token.ts";

/** Who we are, once the server has said so. */
export const caller = signal<Caller | undefined>(undefined);
/** Why nobody is signed in; `undefined` while it is not known yet. */
export const notSignedIn = signal<string | undefined>(undefined);

/** With the code of the address, with the token of this tab, or, where the server wants none, without. */
export async function signIn(): Promise<void> {
  const code = takeCode();
  try {
    if (code !== undefined) await redeem(code).catch(stay);
    caller.value = await request(Caller, "GET", "/api/v1/me");
    notSignedIn.value = undefined;
  } catch (cause) {
    const reason = code !== undefined || token.peek() !== undefined ? reasonOf(cause) : "";
    if (endsSignIn(cause)) signedOut(reason);
    else notSignedIn.value = reason;
  }
}

/** Whoever is signed in stays so when a code is of no use. */
function stay(cause: unknown): void {
  if (caller.peek() === undefined && token.peek() === undefined) throw cause;
  complain(reasonOf(cause));
}

/** A link to the page that is pasted into a page which is open already reloads nothing. */
export function takeLaterCodes(): void {
  addEventListener("hashchange", () => {
    if (hasCode()) void signIn();
  });
}

/** As nobody: a token of ours that the server does not know any more would be refused first. */
async function redeem(code: string): Promise<void> {
  const signedIn = await request(SignedIn, "POST", "/api/v1/sign-in", { code }, {});
  caller.value = undefined;
  notSignedIn.value = undefined;
  forgetCaller();
  keepToken(signedIn.token);
}

/** The server takes our token no more: nothing that it showed us stays. */
export function signedOut(reason: string): void {
  keepToken(undefined);
  caller.value = undefined;
  forgetCaller();
  notSignedIn.value = reason;
}

/** Whether a failure means that we are nobody here any more. */
export function endsSignIn(cause: unknown): boolean {
  return cause instanceof Refused && cause.status === 401;
}

export async function signOut(): Promise<void> {
  await request(z.object({ type: z.string() }), "POST", "/api/v1/me/sign-out").catch(() => undefined);
  signedOut("");
}

export function SignInPage() {
  const isBusy = signal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const pasted = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    if (pasted === "") return;
    isBusy.value = true;
    keepToken(pasted);
    await signIn();
    if (caller.peek() === undefined) keepToken(undefined);
    isBusy.value = false;
  };
  return (
    <main class="sign-in">
      <img src="/assets/icon.svg" alt="" width="44" height="44" />
      <h1>Plexus</h1>
      <p>Open this page signed in, from a terminal on the server's machine:</p>
      <pre class="code">plexus open</pre>
      <p>
        Or paste a token, such as the one that <code>plexus token show</code> prints.
      </p>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} required />
        <button class="button primary" type="submit" disabled={isBusy}>
          Sign in
        </button>
      </form>
      <p class="refusal" role="alert">
        {notSignedIn.value}
      </p>
    </main>
  );
}
