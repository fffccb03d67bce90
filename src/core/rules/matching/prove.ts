import { avoidsPrivate, touchesFiles } from "../file-tools.ts";
import { isHarmlessLine } from "../harmless-command.ts";
import type { ReadableFiles } from "../readable-files.ts";
import type { ToolCall } from "../tool-call.ts";
import { hasKnownKeys, TOOL_KEYS, textAt } from "../tool-keys.ts";
import { EDITORS } from "../tool-kinds.ts";
import type { WithheldFiles } from "../withheld-files.ts";
import { commandProver } from "./commands/command-prover.ts";
import { mayPrintWithheld } from "./commands/stored/withheld-contents.ts";
import { coversHost, plainHost } from "./fetch-pattern.ts";
import type { JudgedCall } from "./judged-call.ts";
import type { Obstacle } from "./obstacles.ts";
import { fileProver, isOrdinaryFile } from "./paths/file-prover.ts";
import type { Pattern } from "./pattern.ts";
import { placed } from "./placed.ts";
import { toolProver } from "./tool-name.ts";

/** Proves that allow rules cover a call. */
export type Prover = {
  /**
   * The ids of the rules that together cover the call, each once, in order of first use; never an empty list. If a deny
   * or ask rule might match the call (`isSuspect`), only exact words cover a command.
   */
  prove(call: JudgedCall, withheld: WithheldFiles | undefined, isSuspect?: boolean): string[] | undefined;
};

/** Whether a call raises any danger except `tool`, which every MCP tool that may change something raises. */
export type HasDangers = (call: ToolCall) => boolean;

/** Tools that a person must answer, or that change which calls need approval. */
export const ALWAYS_ASKED: readonly string[] = [
  "AskUserQuestion",
  "EnterPlanMode",
  "ExitPlanMode",
  "EnterWorktree",
  "ExitWorktree",
];

export function createProver(rules: readonly { id: string; pattern: Pattern }[], hasDangers: HasDangers): Prover {
  const names = toolProver([
    ...placed(rules, "tool").map(({ order, name }) => ({ order, glob: name })),
    ...placed(rules, "tools"),
  ]);
  const coveringAny = commandProver(placed(rules, "command"), names("Bash"));
  const coveringExactly = commandProver(
    placed(rules, "command").filter(({ command }) => !command.hasWildcard),
    undefined,
  );
  const fileRule = fileProver(placed(rules, "file"));
  const hosts = placed(rules, "fetch");

  const byName = (call: ToolCall, files: () => ReadableFiles | undefined): number | undefined => {
    const order = names(call.toolName);
    return order === undefined || obstacleByName(call, files, hasDangers) !== undefined ? undefined : order;
  };

  const fileOrder = (call: ToolCall, files: ReadableFiles, home: string): number | undefined =>
    fileRule(call, files, home) ?? byName(call, () => files);

  const proveCommand = (judged: JudgedCall, files: ReadableFiles, covering: typeof coveringAny): number[] => {
    const { call, place, command, literal, started } = judged;
    const commands = literal() ?? [];
    if (command === undefined || !hasKnownKeys(call.toolName, call.input)) return [];
    if (commands.length === 0 || judged.hasOwnPrograms(files) || !started().isComplete) return [];
    const used: number[] = [];
    const use = (order: number | undefined) => order !== undefined && used.push(order) > 0;
    const isProven = isHarmlessLine(
      commands,
      files,
      // In another directory the same words could run something else.
      (one, dir) => dir === files.start && use(covering(one, command, files)),
      (path, dir) => use(fileOrder(writing(path, dir), files, place.home)),
    );
    if (!isProven) return [];
    // Commands that only read need no rule; name a rule that covers one of them anyway.
    if (used.length === 0) for (const { parsed } of commands) use(covering(parsed, command, files));
    return used;
  };

  const search = (judged: JudgedCall, withheld: WithheldFiles | undefined, isSuspect: boolean): number[] => {
    const { call, place } = judged;
    const files = () => judged.files(withheld);
    if (call.toolName === "Bash") {
      if (withheld && judged.literal() && mayPrintWithheld(judged, withheld)) return [];
      // Look at the file system only for literal commands: most are not.
      const here = judged.literal() && files();
      return here ? proveCommand(judged, here, isSuspect ? coveringExactly : coveringAny) : [];
    }
    const here = touchesFiles(call) ? files() : undefined;
    const order = (here && fileRule(call, here, place.home)) ?? fetchOrder(call) ?? byName(call, files);
    return order === undefined ? [] : [order];
  };

  const fetchOrder = (call: ToolCall): number | undefined => {
    if (call.toolName !== "WebFetch" || hosts.length === 0 || !hasKnownKeys(call.toolName, call.input))
      return undefined;
    const host = plainHost(textAt(call.input, "url"));
    if (host === undefined || hasDangers(call)) return undefined;
    return hosts.find((one) => coversHost(one.host, host))?.order;
  };

  return {
    prove(judged, withheld, isSuspect = false) {
      try {
        if (judged.hasFailed) return undefined;
        const ids = search(judged, withheld, isSuspect).flatMap((order) => rules[order]?.id ?? []);
        return ids.length > 0 ? [...new Set(ids)] : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** The obstacle that keeps a rule for all calls of a tool from covering this one. */
export function obstacleByName(
  call: ToolCall,
  files: () => ReadableFiles | undefined,
  hasDangers: HasDangers,
): Obstacle | undefined {
  if (ALWAYS_ASKED.includes(call.toolName)) return "answered";
  if (!hasExpectedInput(call)) return "arguments";
  if (hasDangers(call)) return "dangerous";
  if (!touchesFiles(call)) return undefined;
  const here = files();
  if (!here) return "place";
  if (!avoidsPrivate(call, here)) return "private";
  return EDITORS.includes(call.toolName) && !isOrdinaryFile(call, here) ? "control_file" : undefined;
}

/** A redirect, represented as the Write call that would write the same file. */
export function writing(path: string, dir: string): ToolCall {
  return { toolName: "Write", input: { file_path: path.startsWith("/") ? path : `${dir}/${path}`, content: "" } };
}

/**
 * Whether a call has only known arguments. For unknown tools outside MCP it must have no `command`: only Bash commands
 * are ever covered.
 */
function hasExpectedInput({ toolName, input }: ToolCall): boolean {
  if (Object.hasOwn(TOOL_KEYS, toolName)) return hasKnownKeys(toolName, input);
  return toolName.startsWith("mcp__") || !Object.hasOwn(input, "command");
}
