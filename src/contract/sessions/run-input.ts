import { z } from "zod";
import { problemsIn } from "../arguments/problems.ts";
import { isJsonObject, MAX_NAME_CHARS, Name, optional } from "../values.ts";
import { ChatInput, CreateInput, ReaderName, SessionRef, WaitSecs } from "./session.ts";

export const MAX_CHILDREN = 16;

const { name: _, ...settings } = CreateInput.shape;
/** Settings without descriptions: `claudecode_create` has them, and repeating them would cost every parent tokens. */
const known = undescribed(settings);

/** The settings of a session to change. */
export const SettingsUpdate = z.strictObject(settings);
export const UpdateInput = SessionRef.extend(known);

const { prompt, ephemeral } = ChatInput.shape;

/** A session and its prompt; the session is created if no other has its name. */
export const Child = CreateInput.extend({ prompt });
export type Child = z.output<typeof Child>;

/** One of several children. A problem with it is reported in its own result, so that it doesn't stop the others. */
export type ReadChild = Child | { name: string; problem: string };

/** Parses each child separately. A child without a name is called by its position. */
function readChildren(children: readonly unknown[]): ReadChild[] {
  const first = new Map<string, number>();
  return children.map((given, at) => {
    const { data, error } = Child.safeParse(given);
    const name = data?.name ?? givenName(given) ?? `children[${at}]`;
    const before = first.get(name);
    if (before === undefined) first.set(name, at);
    if (isJsonObject(given) && Object.hasOwn(given, "wait_secs"))
      return { name, problem: "wait_secs goes beside children, not into one of them." };
    if (!data) return { name, problem: `${problemsIn(error, Child, given, "each child")}.` };
    if (before === undefined) return data;
    return { name, problem: `children[${before}] has the same name: give each child one of its own.` };
  });
}

function givenName(child: unknown): string | undefined {
  const name = isJsonObject(child) ? child["name"] : undefined;
  return typeof name === "string" && name !== "" ? name.slice(0, MAX_NAME_CHARS).toWellFormed() : undefined;
}

const Children = z
  .array(z.custom<unknown>().meta({ type: "object" }))
  .min(1)
  .max(MAX_CHILDREN)
  .refine((children) => children.some((child) => givenName(child) !== undefined), {
    error: "must be a list of JSON objects, each with its name and prompt",
    abort: true,
  })
  .transform(readChildren);

/** One child, or several. */
export const RunInput = z.strictObject({
  name: optional(Name).describe("The session's name."),
  prompt: optional(prompt).describe("What it should do."),
  wait_secs: WaitSecs,
  consumer: ReaderName,
  children: optional(Children).describe("Instead: for each its name, prompt and settings."),
  ...known,
});

/** The same over REST, where a turn may also be ephemeral. */
export const RunBody = Child.extend({ ephemeral, wait_secs: WaitSecs });

function undescribed<S extends Record<string, z.ZodType>>(shape: S): S {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, schema.describe("")])) as S;
}
