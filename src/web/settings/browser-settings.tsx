import type { Signal } from "@preact/signals";
import { usePage } from "../context.ts";

const THEMES = { system: "as the system", light: "light", dark: "dark" } as const;
const DENSITIES = { comfortable: "comfortable", compact: "compact" } as const;

/** How this browser shows Plexus, which it remembers. */
export function BrowserSettings() {
  const { preferences, notifier } = usePage();
  const { theme, density, notifies } = preferences;
  return (
    <section class="setting" aria-labelledby="browser">
      <h2 id="browser">This browser</h2>
      <Choices legend="Colours" name="theme" chosen={theme} words={THEMES} />
      <Choices legend="Density" name="density" chosen={density} words={DENSITIES} />
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

type ChoicesProps<T extends string> = { legend: string; name: string; chosen: Signal<T>; words: Record<T, string> };

function Choices<T extends string>({ legend, name, chosen, words }: ChoicesProps<T>) {
  const choices = Object.keys(words) as T[];
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {choices.map((one) => (
        <label key={one} class="check">
          <input type="radio" name={name} checked={chosen.value === one} onChange={() => (chosen.value = one)} />
          {words[one]}
        </label>
      ))}
    </fieldset>
  );
}
