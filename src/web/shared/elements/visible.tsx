import type { ComponentChild } from "preact";
import { UNPRINTABLE } from "../../../contract/text/unprintable.ts";
import { characterName, visibleLines } from "../../../contract/text/visible-text.ts";

export { visibleText } from "../../../contract/text/visible-text.ts";

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
