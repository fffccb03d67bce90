import type { Api } from "../../../client/api.ts";
import { listRules } from "../../../contract/routes/rules.ts";
import { CommandFailed } from "../../terminal/terminal.ts";

const WHOLE_ID_CHARS = 36;

/** The id of the rule that an argument names: by its whole id, or by the end of it that `plexus rules list` shows. */
export async function ruleId(api: Api, given: string): Promise<string> {
  if (given.length >= WHOLE_ID_CHARS) return given;
  const { rules } = await api.call(listRules);
  const found = rules.filter(({ id }) => id === given || id.endsWith(given));
  const [rule, ...others] = found;
  if (!rule) throw new CommandFailed(`There is no rule ${given}: \`plexus rules list\` shows their ids.`);
  if (others.length > 0) throw new CommandFailed(`${found.length} rules end with ${given}: give more of the id.`);
  if (rule.tier === "builtin")
    throw new CommandFailed("A built-in rule can't be changed: a rule to ask or deny overrules it.");
  if (rule.tier === "file")
    throw new CommandFailed("This rule stands in the operator's file (--rules): change it there, it is read again.");
  return rule.id;
}
