import type { ComponentChild } from "preact";
import { UNPRINTABLE } from "../../../contract/text/unprintable.ts";
import { characterName, visibleLines } from "../../../contract/text/visible-text.ts";

export { visibleText } from "../../../contract/text/visible-text.ts";

/**
 * How many invisible characters are marked one by one. Beyond that they get plain marks, because drawing all would
 * block the page.
 */
const MAX_DRAWN = 2_000;

/** A child's text, never as HTML. Characters that would hide, reorder or erase text are made visible. */
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
  shown.push(drawn > MAX_DRAWN ? visibleLines(rest) : rest);
  return shown;
}

function Mark({ character }: { character: string }) {
  return (
    <span class="mark" title={`a character that does not show: ${characterName(character)}`}>
      {characterName(character)}
    </span>
  );
}
