import { useUser } from "../context.ts";
import { OPERATOR } from "../rules/rule-list.ts";
import { Visible } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import { BrowserSettings } from "./browser-settings.tsx";
import { PushSettings } from "./push-settings.tsx";
import { SignInSettings } from "./sign-in-settings.tsx";
import { TokenSettings } from "./token-settings.tsx";
import { VersionSettings } from "./version-settings.tsx";
import { WebhookSettings } from "./webhook-settings.tsx";

/** The settings: tokens, webhooks, and the appearance of this browser. */
export function SettingsPage() {
  const { caller } = useUser();
  return (
    <main class="page settings">
      <header class="page-head">
        <h1>Settings</h1>
      </header>
      {caller.name === OPERATOR && <TokenSettings />}
      {caller.name === OPERATOR && <WebhookSettings />}
      <BrowserSettings />
      <PushSettings />
      <RulesFile />
      <SignInSettings />
      <VersionSettings />
    </main>
  );
}

function RulesFile() {
  const status = useUser().rulesFile.status.value;
  return (
    <section class="setting" aria-labelledby="rules-file">
      <h2 id="rules-file">Rules file</h2>
      {status === undefined ? (
        <p class="note">
          None is read. <code>plexus serve --rules FILE</code> reads one.
        </p>
      ) : (
        <p>
          <code>
            <Visible text={status.path} />
          </code>
          : {status.ok ? `${status.rules} rules hold` : "it has a mistake, and what it allows is switched off"}.{" "}
          <a class="inline" href={linkTo.rules}>
            All rules
          </a>
        </p>
      )}
    </section>
  );
}
