import { usePage } from "../context.ts";
import { Choices } from "./choices.tsx";

const THEMES = { system: "as the system", light: "light", dark: "dark" } as const;
const DENSITIES = { comfortable: "comfortable", compact: "compact" } as const;

/** Settings of the page's appearance, which this browser remembers. */
export function BrowserSettings() {
  const { preferences, notifier, sound } = usePage();
  const { theme, density, notifies, staysSignedIn } = preferences;
  return (
    <section class="setting" aria-labelledby="browser">
      <h2 id="browser">This browser</h2>
      <Choices
        legend="Colours"
        name="theme"
        chosen={theme.value}
        words={THEMES}
        onChoose={(one) => (theme.value = one)}
      />
      <Choices
        legend="Density"
        name="density"
        chosen={density.value}
        words={DENSITIES}
        onChoose={(one) => (density.value = one)}
      />
      <Switch
        words="Notify me of new requests while I look elsewhere"
        isOn={notifies.value === "yes"}
        onChange={(isOn) => void notifier.want(isOn)}
      />
      <Switch words="Play a sound for new requests" isOn={preferences.sound.value === "yes"} onChange={sound.want} />
      <Switch
        words="Stay signed in here when the page is closed"
        isOn={staysSignedIn.value === "yes"}
        onChange={(isOn) => (staysSignedIn.value = isOn ? "yes" : "no")}
      />
    </section>
  );
}

type SwitchProps = { words: string; isOn: boolean; onChange: (isOn: boolean) => void };

function Switch({ words, isOn, onChange }: SwitchProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      {words}
    </label>
  );
}
