import type { Command } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { sendDecision } from "./decision.ts";

type Options = Flags & { message: string; interrupt?: true; json?: true };

export function denyCommand(terminal: Terminal): Command {
  return clientCommand("deny", "deny a pending request, and tell the agent why")
    .argument("<ID>", "the request's id, as `plexus pending` shows it")
    .requiredOption("-m, --message <WHY>", "the reason (shown to the agent), and what to do instead")
    .option("--interrupt", "end the child's turn too")
    .option("--json", "print JSON")
    .action(async (id: string, options: Options) => {
      const config = readConfig(options);
      const { message, interrupt, json = false } = options;
      if (message.trim() === "") throw new UsageError("--message must not be empty: it is shown to the agent.");
      await sendDecision(config, { id, decision: { approve: false, message, interrupt }, json }, terminal);
    });
}
