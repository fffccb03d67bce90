import type { Command } from "commander";
import { decidedWords } from "../../../client/words/rule-words.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { addRule } from "../../../contract/routes/rules.ts";
import type { RuleDecision } from "../../../contract/rules/rule.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { sessionKey } from "../sessions/session-key.ts";
import { decisionArgument, MATCH_HELP, type RuleFlags, settingsOf, withRuleFlags } from "./rule-flags.ts";
import { placesOf } from "./rule-place.ts";
import { ruleText, shortId, tellNote } from "./rule-text.ts";

type Options = Flags & RuleFlags & { session?: string; json?: true };

export function addCommand(terminal: Terminal): Command {
  const command = clientCommand("add", "make a rule, which counts at once, for pending requests too")
    .addArgument(decisionArgument("<DECISION>"))
    .argument("<MATCH>", MATCH_HELP)
    .option("--session <ID>", "only in this session (its id or its name)");
  return withRuleFlags(command)
    .option("--json", "print JSON")
    .action(async (decision: RuleDecision, match: string, { dataDir, url, session, json, ...flags }: Options) => {
      const api = await openApi(readConfig({ dataDir, url }));
      const session_id = await sessionKey(api, session);
      const body = { decision, match, ...settingsOf(flags), ...(session_id !== undefined && { session_id }) };
      const added = await api.call(addRule, { body });
      if (json) return terminal.out(jsonText(added, terminal));
      const placeOf = await placesOf(api, [added.rule]);
      const where = session === undefined ? placeOf(added.rule) : `in session ${placeOf(added.rule)}`;
      const done = added.existing ? "You have it already," : "Added";
      terminal.out(`${done} ${shortId(added.rule)}: ${ruleText(added.rule, where)}.\n`);
      const decided = decidedWords(added);
      if (decided !== undefined) terminal.out(`${decided}\n`);
      tellNote(added, terminal);
    });
}
