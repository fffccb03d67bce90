import { z } from "zod";
import { isJsonObject, type JsonObject } from "../values.ts";
import { cutText, joined } from "./cut-text.ts";

/** An object of which only the beginning and the end of its JSON are shown. */
export const CutObject = z.strictObject({ truncated_json: z.string() });
export type CutObject = z.infer<typeof CutObject>;

/** Shortens a text. `at`: where its first character stands in the JSON of the object, in which `written` is its length. */
type Shorten = (text: string, limit: number, at: number, written: (part: string) => number) => string;

/** Shortens the object to at most `limit` characters of JSON: its long texts, or else its whole JSON as one text. */
export function cutObject<T extends JsonObject>(value: T, limit: number): T | CutObject {
  return shortened(value, limit, () => cutText);
}

/**
 * The same, with words that say at which offset of the object's JSON each missing part begins. `cutAt` is the first of
 * these offsets; undefined if nothing is missing.
 */
export function cutPlaced<T extends JsonObject>(value: T, limit: number): { value: T | CutObject; cutAt?: number } {
  let offsets: number[] = [];
  const cut = shortened(value, limit, () => {
    const found: number[] = [];
    offsets = found;
    return (text, longest, at, written) => cutTextAt(text, longest, at, written, (from) => found.push(from));
  });
  return { value: cut, ...(offsets.length > 0 && { cutAt: Math.min(...offsets) }) };
}

/** Shortens a text that begins at this offset, and says from which offset on how many characters are missing. */
export function cutTextAt(
  text: string,
  limit: number,
  at: number,
  written: (part: string) => number,
  onCut: (from: number) => void,
): string {
  return joined(text, limit, ({ head, left }) => {
    const from = at + written(head);
    onCut(from);
    return `${written(left)} characters left out, from offset ${from}`;
  });
}

/** `begin` gives what shortens the texts of one try; the last try is the one that counts. */
function shortened<T extends JsonObject>(value: T, limit: number, begin: () => Shorten): T | CutObject {
  const json = JSON.stringify(value);
  if (json.length <= limit) return value;
  for (const longest of [limit / 2, limit / 8, 200]) {
    const cut = withShortTexts(value, Math.floor(longest), begin());
    if (JSON.stringify(cut).length <= limit) return cut;
  }
  let shown = limit;
  let preview: CutObject;
  do {
    shown = Math.floor(shown / 2);
    preview = { truncated_json: begin()(json, shown, 0, (part) => part.length) };
  } while (JSON.stringify(preview).length > limit && shown > 100);
  return preview;
}

function withShortTexts<T>(value: T, longest: number, shorten: Shorten): T;
function withShortTexts(value: unknown, longest: number, shorten: Shorten): unknown {
  let at = 0;
  const walk = (part: unknown): unknown => {
    if (typeof part === "string") {
      const cut = shorten(part, longest, at + 1, writtenChars);
      at += writtenChars(part) + 2;
      return cut;
    }
    const isList = Array.isArray(part);
    if (!isList && !isJsonObject(part)) {
      at += String(JSON.stringify(part)).length;
      return part;
    }
    // A bracket before the first item, a comma before each other one.
    at += 1;
    const entries = Object.entries(part).map(([key, item], index) => {
      if (index > 0) at += 1;
      if (!isList) at += JSON.stringify(key).length + 1;
      return [key, walk(item)] as const;
    });
    at += 1;
    return isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  };
  return walk(value);
}

/** The length of a text in JSON, without the quotes. */
export function writtenChars(text: string): number {
  return JSON.stringify(text).length - 2;
}
