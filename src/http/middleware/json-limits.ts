import { AppError } from "../../contract/refusals/errors.ts";
import { MAX_JSON_DEPTH } from "../../contract/values.ts";

/** The deepest accepted input, plus the levels that a request wraps around it. */
const MAX_DEPTH = MAX_JSON_DEPTH + 10;
/**
 * Far more than a model writes in one call. Names cost more than values, because the server looks up each of them many
 * times.
 */
const MAX_VALUES = 250_000;
const MAX_NAMES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Refuses JSON that would take seconds to parse. Up to the first syntax error, it reads the text as a parser would. */
export function checkJsonLimits(json: Uint8Array): void {
  let depth = 0;
  let values = 0;
  let names = 0;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        values++;
        if (++depth > MAX_DEPTH)
          throw new AppError("invalid_arguments", `The body is nested deeper than ${MAX_DEPTH} levels.`);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COMMA:
        values++;
        break;
      case COLON:
        names++;
        break;
    }
    if (values > MAX_VALUES) throw tooMany(`${MAX_VALUES} values in its lists and objects`);
    if (names > MAX_NAMES) throw tooMany(`${MAX_NAMES} names in its objects`);
  }
}

function tooMany(what: string): AppError {
  return new AppError("payload_too_large", `The body has more than ${what}.`);
}

/** Returns the position of the closing quote of the string that begins at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
