import { PERMISSION_TOOL } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/errors.ts";
import type { Supervision } from "../../contract/sessions/supervision.ts";
import type { JsonObject } from "../../contract/values.ts";
import { takes } from "../cli-version.ts";
import { permissionSettings } from "../settings/permission-settings.ts";

/** What a session asks of the CLI for one turn. */
export type CommandSpec = {
  /** Unknown where it could not be asked for. */
  claudeVersion?: string | undefined;
  supervision: Supervision;
  workingDir: string;
  /** What the child may neither read nor change. */
  privatePaths: string[];
  mcpConfigFile: string;
  /** Holds what is added to the CLI's system prompt: arguments can be seen by all. */
  systemPromptFile?: string | undefined;
  /** Settings of the user's that children need to log in; never a secret, since arguments can be seen by all. */
  loginHelpers?: JsonObject | undefined;
  /** Our own MCP server as the CLI shall reach it; without one nothing is asked, and what would ask is refused. */
  loopback?: JsonObject | undefined;
  mcpServers?: Record<string, JsonObject> | undefined;
  model?: string | undefined;
  allowedTools?: string[] | undefined;
  disallowedTools?: string[] | undefined;
  addDirs?: string[] | undefined;
  maxTurns?: number | undefined;
  /** The conversation to go on with, as the CLI names it. */
  resume?: string | undefined;
  forkSession?: boolean | undefined;
};

export const SERVER_NAME = "plexus";
/** The kernel takes 128 KiB in one argument. */
const MAX_ARGUMENT_BYTES = 120_000;

/** The CLI's arguments; each value stands in one item with its flag, so that none can pass for a flag itself. */
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
    // A prompt is text: as a command it would change settings or write files, unasked.
    ...(spec.supervision === "inherit" ? [] : ["--disable-slash-commands"]),
    ...["--settings", JSON.stringify({ ...spec.loginHelpers, ...settings })],
    ...valued("--model", spec.model),
    ...valued("--append-system-prompt-file", spec.systemPromptFile),
    // Else every later turn gets the system prompt of the first one, whatever has changed since.
    ...(takes(spec.claudeVersion, "systemPromptSnapshot") ? ["--system-prompt-snapshot=off"] : []),
    ...allowedUnasked(spec).flatMap((tool) => valued("--allowedTools", tool)),
    ...(spec.disallowedTools ?? []).flatMap((tool) => valued("--disallowedTools", tool)),
    ...(spec.addDirs ?? []).flatMap((dir) => valued("--add-dir", dir)),
    ...valued("--max-turns", spec.maxTurns),
    ...valued("--resume", spec.resume),
    ...(spec.forkSession ? ["--fork-session"] : []),
  ];
  for (const arg of args) refuseUnfit(arg);
  return args;
}

/** What the CLI itself allows by name; where every call comes to us, we match the names ourselves. */
function allowedUnasked({ supervision, loopback, allowedTools = [] }: CommandSpec): string[] {
  return supervision === "inherit" || loopback === undefined ? allowedTools : [];
}

/** The MCP servers of the child: ours, and those that its session brings. */
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

function refuseUnfit(arg: string): void {
  const flag = /^--[\w-]+/.exec(arg)?.[0] ?? "an argument";
  if (arg.includes("\0")) throw new AppError("invalid_arguments", `${flag} for Claude Code must not hold a NUL.`);
  const size = Buffer.byteLength(arg);
  if (size <= MAX_ARGUMENT_BYTES) return;
  throw new AppError(
    "invalid_arguments",
    `${flag} for Claude Code is ${size} bytes; at most ${MAX_ARGUMENT_BYTES} fit: put long text in a file or the prompt.`,
  );
}
