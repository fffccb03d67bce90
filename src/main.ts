import { Command, CommanderError } from "commander";
import { serveCommand } from "./cli/serve.ts";
import { CommandFailed, ExitCode, type Terminal } from "./cli/terminal.ts";
import { UsageError } from "./config.ts";
import { AppError } from "./schema/errors.ts";
import { VERSION } from "./version.ts";

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  isInteractive: process.stdout.isTTY === true,
};

process.exitCode = await run(process.argv.slice(2));

async function run(argv: string[]): Promise<ExitCode> {
  try {
    await createProgram().parseAsync(argv, { from: "user" });
    return ExitCode.ok;
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (cause instanceof UsageError) return complain(cause.message, ExitCode.usage);
    if (cause instanceof CommandFailed) return complain(cause.message, cause.exitCode);
    if (cause instanceof AppError) return complain(cause.message, ExitCode.failed);
    throw cause;
  }
}

function complain(message: string, exitCode: ExitCode): ExitCode {
  terminal.err(`plexus: ${message}\n`);
  return exitCode;
}

function createProgram(): Command {
  return new Command("plexus")
    .description("Lets one agent supervise others: every tool call a child asks about waits for your decision.")
    .version(VERSION, "--version", "print the version")
    .exitOverride()
    .addCommand(serveCommand(terminal), { isDefault: true });
}
