import { LongText } from "../elements/long-text.tsx";
import { Visible } from "../elements/visible.tsx";
import { lazy } from "../lazy.tsx";

/** Longer texts stay unformatted: they would need more elements than a page can draw at once. */
const MAX_CHARS = 60_000;

const Parsed = lazy<{ text: string }>(
  async () => (await import("./parsed.tsx")).ParsedMarkdown,
  ({ text }) => (
    <div class="markdown plain">
      <Visible text={text} />
    </div>
  ),
);

/** A model's text with its markdown formatted. HTML in it is shown as text, and nothing that it names is fetched. */
export function Markdown({ text, label }: { text: string; label: string }) {
  if (text.length > MAX_CHARS) return <LongText text={text} label={label} />;
  return <Parsed text={text} />;
}
