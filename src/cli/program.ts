import { Command } from "commander";
import { VERSION } from "../version.ts";
import { allowCommand } from "./allow.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand } from "./backup.ts";
import { callCommand } from "./call.ts";
import { completionCommand } from "./completion.ts";
import { configureCommand } from "./configure.ts";
import { connectCommand } from "./connect.ts";
import { denyCommand } from "./deny.ts";
import { doctorCommand } from "./doctor.ts";
import { healthcheckCommand } from "./healthcheck.ts";
import { historyCommand } from "./history.ts";
import { logsCommand } from "./logs.ts";
import { mcpCommand } from "./mcp.ts";
import { openCommand } from "./open.ts";
import { pendingCommand } from "./pending.ts";
import { printable } from "./printable.ts";
import { runCommand } from "./run.ts";
import { serveCommand } from "./serve.ts";
import { sessionsCommand } from "./sessions.ts";
import type { Terminal } from "./terminal.ts";
import { tokenCommand } from "./token.ts";
import { versionCommand } from "./version.ts";
import { watchCommand } from "./watch.ts";

const COMMANDS = [
  serveCommand,
  mcpCommand,
  runCommand,
  sessionsCommand,
  logsCommand,
  openCommand,
  watchCommand,
  pendingCommand,
  allowCommand,
  denyCommand,
  historyCommand,
  auditCommand,
  configureCommand,
  connectCommand,
  tokenCommand,
  callCommand,
  backupCommand,
  doctorCommand,
  completionCommand,
  healthcheckCommand,
  versionCommand,
];
const OF_THE_PROGRAM = ["-h", "--help", "--version"];

export function createProgram(terminal: Terminal): Command {
  const program = new Command("plexus")
    .description("Lets one agent supervise others: every tool call a child asks about waits for your decision.")
    .usage("[command] [options]")
    .version(VERSION, "--version", "print the version")
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 no server, 4 decided before, 5 cancelled.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text) =>
        terminal.err(
          complaint(
            text
              .trim()
              .replace(/^error: /, "")
              .replaceAll(/\s*\n\s*/g, " "),
          ),
        ),
    });
  for (const command of COMMANDS) program.addCommand(inheriting(program, command(terminal)));
  return program;
}

/** `plexus` alone serves, and so does `plexus --port 5000`. */
export function withDefaultCommand(argv: string[]): string[] {
  const [first] = argv;
  const isChosen = first !== undefined && (!first.startsWith("-") || OF_THE_PROGRAM.includes(first));
  return isChosen ? argv : ["serve", ...argv];
}

/** One line on what went wrong, whatever a part of it was made from. */
export function complaint(message: string): string {
  return `plexus: ${printable(message)}\n`;
}

/** A command that is made on its own knows nothing of how the program writes and exits. */
function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheriting(command, child);
  return command;
}
