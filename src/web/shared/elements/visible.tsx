import type { ComponentChild } from "preact";
import { UNPRINTABLE } from "../../../contract/unprintable.ts";

/** So many marks are drawn one by one; a text with more of them gets plain ones, or it would stop the page. */
const MAX_DRAWN = 2_000;

/** Text of a child as text: what would hide, reorder or erase shows as what it is. Never HTML. */
export function Visible({ text }: { text: string }) {
  return <>{visible(text)}</>;
}

function visible(text: string): ComponentChild[] {
  const shown: ComponentChild[] = [];
  let from = 0;
  let drawn = 0;
  for (const match of text.matchAll(UNPRINTABLE)) {
    const [character] = match;
    if (character === "\t") continue;
    if (++drawn > MAX_DRAWN) break;
    if (match.index > from) shown.push(text.slice(from, match.index));
    shown.push(<Mark character={character} />);
    from = match.index + character.length;
  }
  const rest = text.slice(from);
  shown.push(
    drawn > MAX_DRAWN ? rest.replace(UNPRINTABLE, (one) => (one === "\t" ? one : `\u27e6${nameOf(one)}\u27e7`)) : rest,
  );
  return shown;
}

/** For titles and labels, where there is only text. */
export function visibleText(text: string): string {
  return text.replace(UNPRINTABLE, (one) => `\u27e6${nameOf(one)}\u27e7`);
}

function Mark({ character }: { character: string }) {
  return (
    <span class="mark" title={`a character that does not show: ${nameOf(character)}`}>
      {nameOf(character)}
    </span>
  );
}

const NAMES: Record<string, string> = {
  "\u0000": "NUL",
  "\u0007": "BEL",
  "\b": "BS",
  "\r": "CR",
  "\u001b": "ESC",
  "\u007f": "DEL",
};

function nameOf(character: string): string {
  return NAMES[character] ?? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
