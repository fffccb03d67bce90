import type { Command } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { sendDecision } from "./decision.ts";

type Options = Flags & { message: string; interrupt?: true; json?: true };

export function denyCommand(terminal: Terminal): Command {
  return clientCommand("deny", "deny a call that waits, and tell the child why")
    .argument("<ID>", "the approval, as `plexus pending` shows it")
    .requiredOption("-m, --message <WHY>", "why, and what to do instead: the child reads it")
    .option("--interrupt", "end the child's turn too")
    .option("--json", "print JSON")
    .action(async (id: string, options: Options) => {
      const config = readConfig(options);
      const { message, interrupt, json = false } = options;
      if (message.trim() === "") throw new UsageError("--message must not be empty: the child reads it.");
      await sendDecision(config, { id, decision: { approve: false, message, interrupt }, json }, terminal);
    });
}
