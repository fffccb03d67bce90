import { type Command, Option } from "commander";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import { changeRule } from "../../../contract/routes/rules.ts";
import { RuleDecision } from "../../../contract/rules/rule.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { changesOf, MATCH_HELP, type RuleFlags, withChangeFlags } from "./rule-flags.ts";
import { ruleId } from "./rule-id.ts";
import { placesOf } from "./rule-place.ts";
import { ruleText, shortId, tellNote } from "./rule-text.ts";

type Options = Flags & RuleFlags & { decision?: RuleDecision; match?: string; json?: true };

export function updateCommand(terminal: Terminal): Command {
  const command = clientCommand("update", "change a rule, at once")
    .argument("<ID>", "the rule's id, as `plexus rules list` shows it")
    .addOption(new Option("--decision <DECISION>", "what becomes of the calls").choices(RuleDecision.options))
    .option("--match <MATCH>", MATCH_HELP);
  return withChangeFlags(command)
    .option("--json", "print JSON")
    .action(async (given: string, { dataDir, url, decision, match, json, ...flags }: Options) => {
      const body = { ...changesOf(flags), ...(decision && { decision }), ...(match !== undefined && { match }) };
      if (Object.keys(body).length === 0) throw new UsageError("Nothing is to change: give a flag, such as --live.");
      const api = await openApi(readConfig({ dataDir, url }));
      const changed = await api.call(changeRule, { params: { id: await ruleId(api, given) }, body });
      if (json) return terminal.out(jsonText(changed, terminal));
      const placeOf = await placesOf(api, [changed.rule]);
      terminal.out(`Changed ${shortId(changed.rule)}: ${ruleText(changed.rule, placeOf(changed.rule))}.\n`);
      tellNote(changed, terminal);
    });
}
