import type { JudgedCall } from "../judged-call.ts";
import type { HasDangers } from "../prove.ts";
import { suggestedMatch } from "../suggest.ts";
import { findableIn } from "./findable.ts";
import type { Outline } from "./outline.ts";
import { provableIn } from "./provable.ts";

/** A longer outline would take more room than the call itself. */
const MAX_CHARS = 16_000;
/** A longer literal line may name too many paths: an outline needs to look each of them up several times. */
const MAX_LITERAL = 1_000;

/** The outline of a call as text; `undefined` if each rule must check the call itself. */
export function outlineOf(judged: JudgedCall, hasDangers: HasDangers): string | undefined {
  if ((judged.command?.length ?? 0) > MAX_LITERAL && judged.literal()) return undefined;
  const suggested = suggestedMatch(judged, hasDangers);
  const outline: Outline = {
    ...provableIn(judged, hasDangers),
    ...findableIn(judged),
    // The last, where it is found without reading all.
    ...(suggested !== undefined && { suggested }),
  };
  const text = JSON.stringify(outline);
  return text.length > MAX_CHARS ? undefined : text;
}

/** What is suggested for the call of an outline; no text of the call has quotes that are not escaped. */
export function suggestedIn(text: string): string | undefined {
  const key = '"suggested":';
  const at = text.lastIndexOf(key);
  return at < 0 ? undefined : (JSON.parse(text.slice(at + key.length, -1)) as string);
}
