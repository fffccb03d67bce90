import { resolve } from "node:path";
import type { Command } from "commander";
import type { z } from "zod";
import { type Config, type Flags, readConfig, UsageError } from "../../../config.ts";
import { AnyErrorResult } from "../../../contract/refusals/errors.ts";
import type { Supervision } from "../../../contract/sessions/supervision.ts";
import { ConfigureAnswer } from "../../../contract/tools/approval-answers.ts";
import { JsonObject } from "../../../contract/values.ts";
import { openPrivateFile } from "../../server/private-file.ts";
import { clientCommand } from "../../server/settings.ts";
import { callServerTool } from "../../server/tool-call.ts";
import { jsonText } from "../../terminal/printable.ts";
import { shellLine } from "../../terminal/shell.ts";
import { CommandFailed, type Terminal } from "../../terminal/terminal.ts";
import { supervisionOption } from "./session-flags.ts";

/** `next` is meant for an agent. Fields that a newer server adds are ignored. */
const Configured = ConfigureAnswer.omit({ next: true }).strip();
type Configured = z.infer<typeof Configured>;
const PROMPT = "your prompt";

type Options = Flags & {
  out?: string;
  name?: string;
  sessionId?: string;
  supervision?: Supervision;
  workingDir?: string;
  force?: true;
  json?: true;
};

export function configureCommand(terminal: Terminal): Command {
  return clientCommand("configure", "make a session for a claude that you start by hand, and print its command")
    .option("--out <FILE>", "write the MCP config there, for you alone to read (else it is printed)")
    .option("--force", "with --out: replace FILE if it is there")
    .option("--name <NAME>", "name the new session")
    .option("--session-id <ID>", "one more config for this session, rather than a new one")
    .addOption(supervisionOption())
    .option("--working-dir <DIR>", "where it will work, if on the server's host: what only reads there needs nobody")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const config = readConfig(options);
      if (options.force && options.out === undefined) throw new UsageError("--force goes with --out.");
      if (options.out === undefined) print(await configure(config, options), options, terminal);
      else await write(resolve(options.out), config, options, terminal);
    });
}

async function write(file: string, config: Config, options: Options, terminal: Terminal): Promise<void> {
  using target = openPrivateFile(file, { replaces: options.force === true });
  const { session_id, mcp_config, args } = await configure(config, options);
  const { rest, settings } = settingsIn(args);
  // Claude Code can read the MCP servers and the settings from the same file, which keeps the command short.
  target.commit(`${JSON.stringify({ ...mcp_config, ...settings }, null, 2)}\n`);
  const command = claudeCommand(file, settings ? ["--settings", file, ...rest] : rest);
  if (options.json) terminal.out(jsonText({ type: "ok", session_id, file, command }, terminal));
  else terminal.out(`${shellLine(command)}\n`);
}

/** Prints only the config to standard output, so that it can be piped. */
function print(configured: Configured, { json }: Options, terminal: Terminal): void {
  terminal.out(jsonText(json ? configured : configured.mcp_config, terminal));
  if (json) return;
  const command = shellLine(claudeCommand("FILE", configured.args));
  terminal.err(`It holds a token: keep it in a FILE that only you can read (--out FILE does), and start\n${command}\n`);
}

async function configure(config: Config, options: Options): Promise<Configured> {
  const { name, sessionId: session_id, supervision, workingDir } = options;
  const working_dir = workingDir === undefined ? undefined : resolve(workingDir);
  const asked = { name, session_id, supervision, working_dir };
  const { value } = await callServerTool(config, "loopback_configure", asked);
  const configured = Configured.safeParse(value);
  if (configured.success) return configured.data;
  const refusal = AnyErrorResult.safeParse(value).data;
  if (refusal?.code === "name_taken")
    throw new CommandFailed(
      `You have a session named "${name}": choose another --name; \`plexus sessions\` lists yours.`,
    );
  throw new CommandFailed(refusal?.message ?? "The server's answer is not understood: is it another version?");
}

/** Splits the arguments into the settings, as an object, and the others. */
function settingsIn(args: string[]): { rest: string[]; settings: JsonObject | undefined } {
  const at = args.indexOf("--settings");
  if (at < 0) return { rest: args, settings: undefined };
  return { rest: args.toSpliced(at, 2), settings: JsonObject.parse(JSON.parse(args[at + 1] ?? "")) };
}

function claudeCommand(file: string, args: string[]): string[] {
  return ["claude", "-p", "--mcp-config", file, ...args, PROMPT];
}
