import { runsLater } from "../../paths/later-files.ts";
import { fromWorkingDir } from "../../paths/paths.ts";
import { gitArguments } from "../../programs/git-arguments.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import { readArguments } from "../../syntax/options.ts";
import { isRunning } from "../code/git-runs.ts";
import type { CommandContext, Finding, Rule } from "../rule.ts";

const HIDDEN_PATTERN = /(^|\/)\.[^/.][^/]*[*?[]|(^|\/)\.[*?[]/;
const CONFIGURES = /^(npm|pnpm|yarn|pip3?|bundle|conda|poetry|composer|go|claude)$/;

/** npm also accepts abbreviated command names. */
const NPM_SETS = /^((c|con[fig]*) (set|edit|delete|fix)|set )/;

/** Changes files and settings that run something later without a decision. */
export const settings: Rule = { rule: "settings", test: findSettings };

function findSettings(command: ProgramCall, { directory, changed }: CommandContext): Finding {
  const { program, args } = command;
  const found = changed.filter(({ value }) => runsLater(fromWorkingDir(value, directory)));
  const hidden = changed.filter(({ value, isDynamic }) => isDynamic && HIDDEN_PATTERN.test(value));
  const messages = [...found, ...hidden].map(
    ({ value, effect }) =>
      `${effect.endsWith("link") ? "makes a link to" : "changes"} a file that runs later (${value})`,
  );
  if (program === "git") messages.push(...gitSettings(command));
  const values = args.map(({ value }) => value);
  const isSetting =
    (CONFIGURES.test(program) &&
      /^(config (set|edit|--global)|env --?[wu]|mcp add)/.test(values.slice(0, 2).join(" "))) ||
    (program === "npm" &&
      NPM_SETS.test(
        readArguments(args)
          .operands.map(({ value }) => value)
          .join(" "),
      ));
  if (isSetting) messages.push(`changes the settings of a tool (${program} ${values[0]})`);
  return messages;
}

/** Finds `git config` settings that run programs, or that apply beyond this repository. */
function gitSettings(command: ProgramCall): string[] {
  const { verb, rest } = gitArguments(command);
  if (verb !== "config") return [];
  const { options, operands } = readArguments(rest, { short: "f", long: ["file"] });
  const words = operands.map(({ value }) => value).filter((value) => value !== "set");
  const isReading = words.length < 2 && !options.some(({ name }) => /^--(unset|edit|remove)|^-e$/.test(name));
  if (isReading || words[0] === "get") return [];
  const isWide = options.some(({ name }) => /^--(global|system)$/.test(name));
  if (!isWide && !isRunning(`${words[0]}=${words[1] ?? "?"}`) && !isEditing(options)) return [];
  return [`changes the settings of git (${words[0] ?? "all of them"})`];
}

function isEditing(options: { name: string }[]): boolean {
  return options.some(({ name }) => name === "-e" || name === "--edit");
}
