import { touchesFiles } from "../../file-tools.ts";
import { isHarmlessLine } from "../../harmless-command.ts";
import type { LiteralCommand } from "../../literal-command.ts";
import type { ReadableFiles } from "../../readable-files.ts";
import type { ToolCall } from "../../tool-call.ts";
import { hasKnownKeys, textAt } from "../../tool-keys.ts";
import { obstacleTo } from "../commands/command-pattern.ts";
import { isPlainProgram } from "../commands/command-prover.ts";
import { plainHost } from "../fetch-pattern.ts";
import type { JudgedCall } from "../judged-call.ts";
import { coverableTarget } from "../paths/file-prover.ts";
import { type HasDangers, obstacleByName, writing } from "../prove.ts";
import { attempted } from "./attempted.ts";
import { type Coverable, MOST_FRONT_WORDS, type Outline, type ProvableLine, type Written } from "./outline.ts";

type Provable = Pick<Outline, "isNamed" | "target" | "host" | "line">;

/** The parts of a call that allow rules may cover. */
export function provableIn(judged: JudgedCall, hasDangers: HasDangers): Provable {
  const { call } = judged;
  const files = judged.files();
  if (call.toolName === "Bash") {
    const line = files && attempted(() => lineOf(judged, files, hasDangers));
    return line ? { line } : {};
  }
  const target = files && touchesFiles(call) ? attempted(() => coverableTarget(call, files)) : undefined;
  const host = call.toolName === "WebFetch" ? attempted(() => hostOf(call, hasDangers)) : undefined;
  return {
    ...(isNamed(call, files, hasDangers) && { isNamed: true }),
    ...(target && { target }),
    ...(host !== undefined && { host }),
  };
}

function hostOf(call: ToolCall, hasDangers: HasDangers): string | undefined {
  if (!hasKnownKeys(call.toolName, call.input)) return undefined;
  const host = plainHost(textAt(call.input, "url"));
  return host === undefined || hasDangers(call) ? undefined : host;
}

function isNamed(call: ToolCall, files: ReadableFiles | undefined, hasDangers: HasDangers): boolean {
  return attempted(() => obstacleByName(call, () => files, hasDangers) === undefined) ?? false;
}

/** Goes through the line as the proof does, with a rule that covers everything. */
function lineOf(judged: JudgedCall, files: ReadableFiles, hasDangers: HasDangers): ProvableLine | undefined {
  const { call, command = "", literal, started } = judged;
  const commands = literal() ?? [];
  if (!hasKnownKeys(call.toolName, call.input)) return undefined;
  if (commands.length === 0 || judged.hasOwnPrograms(files) || !started().isComplete) return undefined;
  const needed: LiteralCommand["parsed"][] = [];
  const writes: Written[] = [];
  const isProvable = isHarmlessLine(
    commands,
    files,
    (one, dir) => dir === files.start && needed.push(one) > 0,
    (path, dir) => {
      const call = writing(path, dir);
      const target = coverableTarget(call, files);
      const isByName = isNamed(call, files, hasDangers);
      return writes.push({ ...(target && { target }), ...(isByName && { isNamed: true }) }) > 0;
    },
  );
  if (!isProvable) return undefined;
  const coverable = (one: LiteralCommand["parsed"]) => coverableBy(one, command, files);
  if (needed.length + writes.length === 0) return { reads: commands.map(({ parsed }) => coverable(parsed)) };
  return {
    ...(needed.length > 0 && { needs: needed.map(coverable) }),
    ...(writes.length > 0 && { writes }),
  };
}

function coverableBy(one: LiteralCommand["parsed"], command: string, files: ReadableFiles): Coverable {
  const words = one.words.map(({ value }) => value);
  const covers = (length: number, hasWildcard: boolean) =>
    attempted(() => obstacleTo({ words: words.slice(0, length), hasWildcard }, one, command, files) === undefined) ??
    false;
  const lengths = Array.from({ length: Math.min(words.length, MOST_FRONT_WORDS) + 1 }, (_, length) => length);
  const wild = lengths.map((length) => covers(length, true) && (length > 0 || isPlainProgram(words[0])));
  return {
    words,
    wild: wild.map(Number).join(""),
    ...(covers(words.length, false) && { isExact: true }),
  };
}
