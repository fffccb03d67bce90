import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { listRules } from "../../../contract/routes/rules.ts";
import { isReady } from "../../../contract/routes/server.ts";
import type { Rule } from "../../../contract/rules/rule.ts";
import { shortDuration } from "../../../contract/text/duration.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText, printable } from "../../terminal/printable.ts";
import { shortened, table } from "../../terminal/table.ts";
import { styled, type Terminal } from "../../terminal/terminal.ts";
import { sessionKey } from "../sessions/session-key.ts";
import { placesOf } from "./rule-place.ts";
import { limitsOf, shortId } from "./rule-text.ts";

const HEADER = ["ID", "DECIDES", "WHERE", "BY", "HITS", "LAST", "MATCH"];
/** The width of some columns on a screen, to leave room for the match. */
const MOST_COLUMNS = 16;
const INDENT = " ".repeat(10);
const NONE = "There are no rules: `plexus rules suggest` finds some, `plexus rules add` makes one.\n";

type Options = Flags & { session?: string; builtin?: true; json?: true };

export function listCommand(terminal: Terminal): Command {
  return clientCommand("list", "list the rules, the strictest first")
    .option("--session <ID>", "only those that hold in this session (its id or its name)")
    .option("--builtin", "the built-in ones, too")
    .option("--json", "print JSON")
    .action(async ({ session, builtin, json, ...flags }: Options) => {
      const api = await openApi(readConfig(flags));
      const { rules } = await api.call(listRules, { query: { session_id: await sessionKey(api, session) } });
      const wanted = rules.filter(({ tier }) => builtin || tier !== "builtin");
      if (json) terminal.out(jsonText({ type: "ok", rules: wanted }, terminal));
      else if (wanted.length === 0) terminal.err(NONE);
      else terminal.out(await rulesText(api, wanted, terminal));
      await warnOfFile(api, terminal);
    });
}

/** A row for each rule, and below it the fields that only some rules have. */
async function rulesText(api: Api, rules: Rule[], terminal: Terminal): Promise<string> {
  const placeOf = await placesOf(api, rules);
  const now = Date.now() / 1000;
  const cell = (text: string) => (terminal.isInteractive ? shortened(printable(text), MOST_COLUMNS) : text);
  const rows = rules.map((rule) => [
    shortId(rule),
    rule.decision,
    cell(placeOf(rule)),
    cell(makerOf(rule)),
    String(rule.hits),
    rule.last_hit_at === undefined ? "-" : shortDuration(now - rule.last_hit_at),
    rule.match,
  ]);
  const [header = "", ...lines] = table(HEADER, rows, terminal).trimEnd().split("\n");
  const detailed = lines.flatMap((line, at) => [line, ...detailsOf(rules[at], terminal)]);
  return `${[header, ...detailed].join("\n")}\n`;
}

function makerOf({ tier, created_by = "" }: Rule): string {
  if (tier === "builtin") return "Plexus";
  return tier === "file" ? "the file" : created_by.replace(/^token:/, "");
}

function detailsOf(rule: Rule | undefined, terminal: Terminal): string[] {
  if (!rule) return [];
  const details = [...limitsOf(rule), ...(rule.reason ? [`reason: ${rule.reason}`] : [])];
  if (details.length === 0) return [];
  const text = `${INDENT}${printable(details.join("; "))}`;
  return [styled("dim", terminal.isInteractive ? shortened(text, terminal.columns) : text, terminal)];
}

/** Warns of mistakes in the operator's file: they disable its allow rules. */
async function warnOfFile(api: Api, terminal: Terminal): Promise<void> {
  const ready = await api.call(isReady);
  const file = "rules" in ready ? ready.rules : undefined;
  if (!file || file.ok) return;
  terminal.err(
    `The file ${printable(file.path)} has a mistake: nothing that it allows is allowed until it is corrected.\n`,
  );
  for (const problem of file.problems) terminal.err(`  ${printable(problem)}\n`);
}
