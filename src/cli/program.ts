import { Command } from "commander";
import { VERSION } from "../version.ts";
import { allowCommand } from "./commands/approvals/allow.ts";
import { auditCommand } from "./commands/approvals/audit.ts";
import { denyCommand } from "./commands/approvals/deny.ts";
import { historyCommand } from "./commands/approvals/history.ts";
import { pendingCommand } from "./commands/approvals/pending.ts";
import { waitCommand } from "./commands/approvals/wait.ts";
import { watchCommand } from "./commands/approvals/watch.ts";
import { rulesCommand } from "./commands/rules/rules.ts";
import { backupCommand } from "./commands/server/backup.ts";
import { completionCommand } from "./commands/server/completion.ts";
import { connectCommand } from "./commands/server/connect.ts";
import { doctorCommand } from "./commands/server/doctor.ts";
import { healthcheckCommand } from "./commands/server/healthcheck.ts";
import { mcpCommand } from "./commands/server/mcp.ts";
import { openCommand } from "./commands/server/open.ts";
import { serveCommand } from "./commands/server/serve.ts";
import { stopCommand } from "./commands/server/stop.ts";
import { tokenCommand } from "./commands/server/token.ts";
import { versionCommand } from "./commands/server/version.ts";
import { callCommand } from "./commands/sessions/call.ts";
import { configureCommand } from "./commands/sessions/configure.ts";
import { demoCommand } from "./commands/sessions/demo.ts";
import { logsCommand } from "./commands/sessions/logs.ts";
import { runCommand } from "./commands/sessions/run.ts";
import { sessionsCommand } from "./commands/sessions/sessions.ts";
import { statsCommand } from "./commands/statistics/stats.ts";
import { printable } from "./terminal/printable.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { brokenBetweenWords, usageWords } from "./usage-words.ts";

const COMMANDS = [
  runCommand,
  demoCommand,
  serveCommand,
  stopCommand,
  mcpCommand,
  sessionsCommand,
  logsCommand,
  openCommand,
  watchCommand,
  pendingCommand,
  allowCommand,
  denyCommand,
  waitCommand,
  historyCommand,
  statsCommand,
  rulesCommand,
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
    .description("Lets one agent supervise others: every tool call that needs approval waits for your decision.")
    .usage("[command] [options]")
    .version(VERSION, "--version", "print the version")
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 no server, 4 decided before, 5 cancelled, 6 nothing to do, 7 contradicts.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text) =>
        terminal.err(
          complaint(
            usageWords(
              text
                .trim()
                .replace(/^error: /, "")
                .replaceAll(/\s*\n\s*/g, " "),
            ),
            terminal,
          ),
        ),
    });
  for (const command of COMMANDS) program.addCommand(inheriting(program, command(terminal)));
  return program;
}

/** `plexus` alone starts the server, and so does `plexus --port 5000`. */
export function withDefaultCommand(argv: string[]): string[] {
  const [first] = argv;
  const isChosen = first !== undefined && (!first.startsWith("-") || OF_THE_PROGRAM.includes(first));
  return isChosen ? argv : ["serve", ...argv];
}

/** One line about the error, safe to print whatever text it contains. */
export function complaint(
  message: string,
  { showsErrors, columns }: Pick<Terminal, "showsErrors" | "columns">,
): string {
  const line = `plexus: ${printable(message)}`;
  return `${showsErrors ? brokenBetweenWords(line, columns) : line}\n`;
}

/**
 * Commands created on their own do not know how the program writes and exits, so copy these settings to all of them.
 */
function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inheriting(command, child);
  return command;
}
