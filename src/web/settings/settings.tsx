import { usePage, useUser } from "../context.ts";
import { OPERATOR } from "../rules/rule-list.ts";
import { Visible } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import { SignInSettings } from "./sign-in-settings.tsx";
import { TokenSettings } from "./token-settings.tsx";

const THEMES = { system: "as the system", light: "light", dark: "dark" } as const;

/** Tokens and pages, and how this browser shows Plexus. */
export function SettingsPage() {
  const { caller } = useUser();
  return (
    <main class="page settings">
      <header class="page-head">
        <h1>Settings</h1>
      </header>
      {caller.name === OPERATOR && <TokenSettings />}
      <Appearance />
      <RulesFile />
      <SignInSettings />
      <section class="setting" aria-labelledby="version">
        <h2 id="version">Version</h2>
        <p>Plexus {caller.version}</p>
      </section>
    </main>
  );
}

function Appearance() {
  const { preferences, notifier } = usePage();
  const { theme, notifies } = preferences;
  return (
    <section class="setting" aria-labelledby="appearance">
      <h2 id="appearance">This browser</h2>
      <fieldset class="choices">
        <legend>Colours</legend>
        {(["system", "light", "dark"] as const).map((one) => (
          <label key={one} class="check">
            <input type="radio" name="theme" checked={theme.value === one} onChange={() => (theme.value = one)} />
            {THEMES[one]}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={notifies.value === "yes"}
          onChange={({ currentTarget }) => void notifier.want(currentTarget.checked)}
        />
        Notify me of new requests while I look elsewhere
      </label>
    </section>
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
