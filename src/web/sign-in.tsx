import { useSignal } from "@preact/signals";
import { usePage } from "./context.ts";

/** The page for visitors who are not signed in: how to sign in, and what went wrong. */
export function SignInPage() {
  const { notSignedIn, signInWith } = usePage();
  const isBusy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const pasted = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    if (pasted === "") return;
    isBusy.value = true;
    await signInWith(pasted);
    isBusy.value = false;
  };
  return (
    <main class="sign-in">
      <img src="/assets/icon.svg" alt="" width="44" height="44" />
      <h1>Plexus</h1>
      <p>Open this page signed in, from a terminal on the server's machine:</p>
      <pre class="code">plexus open</pre>
      <p>
        Or paste the link that <code>plexus open --print</code> prints, or a token, such as that of{" "}
        <code>plexus token show</code>.
      </p>
      <form onSubmit={submit}>
        <label for="token">Token or link</label>
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
