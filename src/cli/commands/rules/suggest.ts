import type { Command } from "commander";
import { type Flags, readConfig } from "../../../config.ts";
import { suggestRules } from "../../../contract/routes/rules.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText, printable } from "../../terminal/printable.ts";
import { shellLine } from "../../terminal/shell.ts";
import { bold, type Terminal } from "../../terminal/terminal.ts";
import { sessionKey } from "../sessions/session-key.ts";
import { counted } from "./rule-text.ts";

const NONE = "Nothing is suggested: no two decisions were alike yet, or a rule for them would contradict others.\n";

type Options = Flags & { session?: string; json?: true };

export function suggestCommand(terminal: Terminal): Command {
  return clientCommand("suggest", "find the rules that would have saved most decisions, and contradict none")
    .option("--session <ID>", "only by what this session has asked, and for it (its id or its name)")
    .option("--json", "print JSON")
    .action(async ({ session, json, ...flags }: Options) => {
      const api = await openApi(readConfig(flags));
      const suggested = await api.call(suggestRules, { query: { session_id: await sessionKey(api, session) } });
      if (json) return terminal.out(jsonText(suggested, terminal));
      if (suggested.suggestions.length === 0) return terminal.err(NONE);
      const place = session === undefined ? [] : ["--session", session];
      for (const { rule, decided } of suggested.suggestions) {
        const add = shellLine(["plexus", "rules", "add", rule.decision, rule.match, ...place]);
        const title = bold(printable(`${rule.decision} ${rule.match}`), terminal);
        terminal.out(`${title}: would have saved ${counted(decided, "decision")}\n  ${printable(add)}\n`);
      }
    });
}
