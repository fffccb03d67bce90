import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { removeRule } from "../../../contract/routes/rules.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { ruleId } from "./rule-id.ts";

type Options = Flags & { json?: true };

export function removeCommand(terminal: Terminal): Command {
  return clientCommand("remove", "remove a rule: such calls need approval again")
    .argument("<ID>", "the rule's id, as `plexus rules list` shows it")
    .option("--json", "print JSON")
    .action(async (given: string, { json, ...flags }: Options) => {
      const api = await openApi(readConfig(flags));
      const removed = await api.call(removeRule, { params: { id: await ruleId(api, given) } });
      terminal.out(json ? jsonText(removed, terminal) : `Removed ${given}.\n`);
    });
}
