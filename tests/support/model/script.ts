import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";

/** `delayMs` passes between text deltas; `waitFor` holds the turn until the test releases that name. */
const pace = { delayMs: z.number().optional(), waitFor: z.string().optional() };

/** An array streams one delta for each item, a string a few deltas. */
const Text = z.union([z.string(), z.array(z.string())]);

const ToolUse = z.strictObject({
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  id: z.string().optional(),
});

const thought = { think: z.string().optional() };

export const Say = z.strictObject({ say: Text, ...thought, ...pace });
/** Several uses in one turn are parallel calls. */
export const Use = z.strictObject({ use: z.array(ToolUse).min(1), say: Text.optional(), ...thought, ...pace });
/** An HTTP error; the CLI retries some of them. */
export const Fail = z.strictObject({ status: z.number(), message: z.string().optional() });
/** Never answers. */
export const Hang = z.strictObject({ hang: z.literal(true) });
/** The connection breaks in the middle of the answer. */
export const Cut = z.strictObject({ cut: z.literal(true) });

/** The model's actions in one assistant turn. */
export const Turn = z.union([Say, Use, Fail, Hang, Cut]);
export type Turn = z.infer<typeof Turn>;
export type SpokenTurn = z.infer<typeof Say> | z.infer<typeof Use>;

const Turns = z.array(Turn);

/** A placeholder in a tool's input for a value from an earlier tool result of the script. */
export const FromResult = z.strictObject({
  $result: z.int().nonnegative(),
  path: z.array(z.union([z.string(), z.int()])),
});

/** The value at this path of the script's nth tool result, which must be JSON. */
export function fromResult(nth: number, ...path: (string | number)[]): z.infer<typeof FromResult> {
  return { $result: nth, path };
}

const DIRECTIVE = /\[\[script:([\w-]+)\]\]/g;

/** A prompt that tells the scripted model what to do, turn by turn; nest it in a subagent's prompt to script that too. */
export function script(turns: Turn[], text = "Follow the script."): string {
  // Compressed, because a scripted input of a megabyte would make an even longer prompt.
  const directive = deflateRawSync(JSON.stringify(Turns.parse(turns))).toString("base64url");
  return `${text}\n\n[[script:${directive}]]`;
}

/** The last script in the text. */
export function readScript(text: string): Turn[] | undefined {
  const directive = [...text.matchAll(DIRECTIVE)].at(-1)?.[1];
  if (directive === undefined) return undefined;
  return Turns.parse(JSON.parse(inflateRawSync(Buffer.from(directive, "base64url")).toString()));
}
