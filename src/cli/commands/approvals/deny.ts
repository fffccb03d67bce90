import type { Command } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { clientCommand } from "../../server/settings.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { sendDecision } from "./decision.ts";
import { type RememberFlags, rememberIn, withRememberFlags } from "./remember-flags.ts";

type Options = Flags & RememberFlags & { last?: true; message: string; interrupt?: true; json?: true };

export function denyCommand(terminal: Terminal): Command {
  const command = clientCommand("deny", "deny a pending request, and tell the agent why")
    .argument("[ID]", "the request's id, as `plexus pending` shows it: its last four characters are enough")
    .option("--last", "the newest request instead")
    .requiredOption("-m, --message <WHY>", "the reason (shown to the agent), and what to do instead")
    .option("--interrupt", "end the child's turn too");
  return withRememberFlags(command)
    .option("--json", "print JSON")
    .action(async (id: string | undefined, options: Options) => {
      const { dataDir, url, message, interrupt, json = false } = options;
      const config = readConfig({ dataDir, url });
      if (message.trim() === "") throw new UsageError("--message must not be empty: it is shown to the agent.");
      const decision = { approve: false, message, interrupt, remember: rememberIn(options) };
      await sendDecision(config, { which: { id, last: options.last }, decision, json }, terminal);
    });
}
