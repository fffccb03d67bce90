import { CommanderError } from "commander";
import { complaint, createProgram, withDefaultCommand } from "./cli/program.ts";
import { CommandFailed, ExitCode, type Terminal } from "./cli/terminal/terminal.ts";
import { hasTokenVariable, UsageError, wantsColour } from "./config.ts";
import { AppError } from "./contract/refusals/errors.ts";
import { isUnreachable, Refused } from "./contract/refusals/refused.ts";

const isInteractive = process.stdout.isTTY === true;
const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  input: () => Bun.stdin.text(),
  isInteractive,
  showsErrors: process.stderr.isTTY === true,
  hasColour: isInteractive && wantsColour(),
  columns: process.stdout.columns || 80,
};

process.stderr.on("error", () => {});
process.stdout.on("error", (cause: Error & { code?: string }) => {
  // The reader is gone, as in `plexus pending | head -1`: that is no failure.
  if (cause.code === "EPIPE" || cause.code === "EIO") return;
  terminal.err(complaint(`Standard output can't be written (${cause.message}).`, terminal));
  process.exitCode = ExitCode.failed;
});

const exitCode = await run(process.argv.slice(2));
process.exitCode ||= exitCode;

async function run(argv: string[]): Promise<ExitCode> {
  try {
    await createProgram(terminal).parseAsync(withDefaultCommand(argv), { from: "user" });
    return ExitCode.ok;
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
    if (cause instanceof UsageError) return complain(cause.message, ExitCode.usage);
    if (cause instanceof CommandFailed) return complain(cause.message, cause.exitCode);
    if (cause instanceof Refused && cause.code === "unauthorized" && hasTokenVariable())
      return complain(`${cause.message} The token is that of PLEXUS_TOKEN: correct or unset it.`, ExitCode.failed);
    if (cause instanceof Refused)
      return complain(cause.message, isUnreachable(cause) ? ExitCode.unreachable : ExitCode.failed);
    if (cause instanceof AppError) return complain(cause.message, ExitCode.failed);
    throw cause;
  }
}

function complain(message: string, exitCode: ExitCode): ExitCode {
  terminal.err(complaint(message, terminal));
  return exitCode;
}
