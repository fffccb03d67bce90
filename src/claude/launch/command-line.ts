import { PERMISSION_TOOL } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Supervision } from "../../contract/sessions/supervision.ts";
import type { JsonObject } from "../../contract/values.ts";
import { supports } from "../cli-version.ts";
import { permissionSettings } from "../settings/permission-settings.ts";

/** What the CLI needs to know for one turn of a session. */
export type CommandSpec = {
  /** `undefined` if the version is not known. */
  claudeVersion?: string | undefined;
  supervision: Supervision;
  workingDir: string;
  /** Files and directories that the child may neither read nor change. */
  privatePaths: string[];
  mcpConfigFile: string;
  /**
   * The file with the addition to the system prompt. It is no argument, since every user of the machine can see
   * arguments.
   */
  systemPromptFile?: string | undefined;
  /**
   * The user's settings that children need to log in; no secrets, since every user of the machine can see arguments.
   */
  loginHelpers?: JsonObject | undefined;
  /** The MCP entry by which the CLI reaches Plexus; without it the CLI refuses every call that needs permission. */
  loopback?: JsonObject | undefined;
  mcpServers?: Record<string, JsonObject> | undefined;
  model?: string | undefined;
  allowedTools?: string[] | undefined;
  disallowedTools?: string[] | undefined;
  addDirs?: string[] | undefined;
  maxTurns?: number | undefined;
  /** The budget of this one process. */
  maxBudgetUsd?: number | undefined;
  /** The CLI's id of the conversation to continue. */
  resume?: string | undefined;
  forkSession?: boolean | undefined;
};

export const SERVER_NAME = "plexus";
/** Linux accepts at most 128 KiB in one argument. */
const MAX_ARGUMENT_BYTES = 120_000;

/** The CLI's arguments; each value shares one item with its flag, so that no value can be read as a flag. */
export function commandLine(spec: CommandSpec): string[] {
  const canAsk = spec.loopback !== undefined;
  const { sources, settings } = permissionSettings({ ...spec, canAsk });
  const args = [
    "-p",
    ...["--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    ...["--permission-mode", "default"],
    ...["--strict-mcp-config", "--mcp-config", spec.mcpConfigFile],
    ...(canAsk ? ["--permission-prompt-tool", PERMISSION_TOOL] : []),
    `--setting-sources=${sources}`,
    // A prompt is text: as a slash command it could change settings or write files without permission.
    ...(spec.supervision === "inherit" ? [] : ["--disable-slash-commands"]),
    ...["--settings", JSON.stringify({ ...spec.loginHelpers, ...settings })],
    ...valued("--model", spec.model),
    ...valued("--append-system-prompt-file", spec.systemPromptFile),
    // Otherwise every later turn gets the first turn's system prompt, even if it has changed.
    ...(supports(spec.claudeVersion, "systemPromptSnapshot") ? ["--system-prompt-snapshot=off"] : []),
    ...allowedByCli(spec).flatMap((tool) => valued("--allowedTools", tool)),
    ...(spec.disallowedTools ?? []).flatMap((tool) => valued("--disallowedTools", tool)),
    ...(spec.addDirs ?? []).flatMap((dir) => valued("--add-dir", dir)),
    ...valued("--max-turns", spec.maxTurns),
    ...valued("--max-budget-usd", spec.maxBudgetUsd),
    ...valued("--resume", spec.resume),
    ...(spec.forkSession ? ["--fork-session"] : []),
  ];
  for (const arg of args) checkArgument(arg);
  return args;
}

/** Tools that the CLI allows by name. If every call comes to Plexus, Plexus matches the names instead. */
function allowedByCli({ supervision, loopback, allowedTools = [] }: CommandSpec): string[] {
  return supervision === "inherit" || loopback === undefined ? allowedTools : [];
}

/** The child's MCP servers: Plexus, and those of its session. */
export function mcpConfig(spec: Pick<CommandSpec, "loopback" | "mcpServers">): { mcpServers: JsonObject } {
  const { loopback, mcpServers = {} } = spec;
  if (Object.keys(mcpServers).some((name) => name.toLowerCase() === SERVER_NAME)) {
    throw new AppError(
      "invalid_arguments",
      `mcp_servers: "${SERVER_NAME}" is the name of Plexus itself; give the server another name.`,
    );
  }
  return { mcpServers: { ...mcpServers, ...(loopback && { [SERVER_NAME]: loopback }) } };
}

function valued(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}

function checkArgument(arg: string): void {
  const flag = /^--[\w-]+/.exec(arg)?.[0] ?? "an argument";
  if (arg.includes("\0"))
    throw new AppError("invalid_arguments", `${flag} for Claude Code must not contain a NUL character.`);
  const size = Buffer.byteLength(arg);
  if (size <= MAX_ARGUMENT_BYTES) return;
  throw new AppError(
    "invalid_arguments",
    `${flag} for Claude Code is ${size} bytes; at most ${MAX_ARGUMENT_BYTES} fit: put long text in a file or the prompt.`,
  );
}
