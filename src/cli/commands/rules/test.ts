import { Argument, type Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig, UsageError } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { Refused } from "../../../contract/refusals/refused.ts";
import { getApproval } from "../../../contract/routes/approvals.ts";
import { testRule } from "../../../contract/routes/rules.ts";
import type { Contradiction, RuleTested, RuleTestInput } from "../../../contract/rules/history-test.ts";
import type { RuleDecision } from "../../../contract/rules/rule.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { summaryOf } from "../../../review/kinds.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { decidedBy } from "../../terminal/decided-by.ts";
import { jsonText, printable } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import { jsonInput } from "../sessions/json-input.ts";
import { sessionKey } from "../sessions/session-key.ts";
import { decisionArgument, MATCH_HELP } from "./rule-flags.ts";
import { counted, tellNote } from "./rule-text.ts";

const TEST_WITHIN_MS = 5 * 60_000;
const MOST_SHOWN = 20;
const HELP = `
  plexus rules test allow "Bash(npm run *)"                 what the rule would have decided before
  plexus rules test --session api --command "npm run lint"  what becomes of this call now
Exit codes: 0 it contradicts no decision, 7 it contradicts some; see \`plexus --help\` for the others.`;

type Options = Flags & { session?: string; tool?: string; input?: string; command?: string; json?: true };

export function testCommand(terminal: Terminal): Command {
  return clientCommand("test", "try a rule on what was decided before, or a call on the rules")
    .addArgument(decisionArgument("[DECISION]"))
    .addArgument(new Argument("[MATCH]", MATCH_HELP))
    .option("--session <ID>", "only by what this session has asked; the session of a call (its id or its name)")
    .option("--tool <NAME>", "instead of a rule: a call of this tool, with --input")
    .option("--input <JSON>", "what the tool is called with; - reads standard input")
    .option("--command <TEXT>", "instead of a rule: this command, as a call of Bash")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (decision: RuleDecision | undefined, match: string | undefined, options: Options) => {
      const { dataDir, url, session, json } = options;
      const call = await callOf(options, terminal);
      const tried = call ?? ruleOf(decision, match);
      if (call && decision !== undefined) throw new UsageError("Give a rule or a call, not both.");
      if (call && session === undefined) throw new UsageError("A call is tried in a session: give --session.");
      const api = await openApi(readConfig({ dataDir, url }));
      const body = { ...tried, session_id: await sessionKey(api, session) };
      const tested = await api.call(testRule, { body }, { signal: AbortSignal.timeout(TEST_WITHIN_MS) });
      if (json) terminal.out(jsonText(tested, terminal));
      else if (call) terminal.out(callText(tested));
      else await showTested(api, tested, terminal);
      const { length } = tested.contradictions;
      if (length > 0)
        throw new CommandFailed(
          `It contradicts ${tested.has_more ? "more than " : ""}${counted(length, "decision")}.`,
          ExitCode.contradicts,
        );
    });
}

function ruleOf(decision: RuleDecision | undefined, match: string | undefined): RuleTestInput {
  if (decision !== undefined && match !== undefined) return { decision, match };
  throw new UsageError("Give a rule (DECISION and MATCH), or a call (--command, or --tool and --input).");
}

async function callOf({ tool, input, command }: Options, terminal: Terminal) {
  if (command !== undefined) {
    if (tool !== undefined || input !== undefined) throw new UsageError("--command goes without --tool and --input.");
    return { tool_name: "Bash", input: { command } satisfies JsonObject };
  }
  if (tool === undefined && input === undefined) return undefined;
  if (tool === undefined || input === undefined) throw new UsageError("A call has --tool and --input.");
  return { tool_name: tool, input: await jsonInput("--input", input, terminal) };
}

/** What the present rules decide about the call. */
function callText({ would_be, by, match, why, suggested_rule, no_rule }: RuleTested): string {
  const rule = by === undefined ? "" : `, by ${decidedBy(by)}`;
  const matched = match === undefined ? "" : `: ${match}`;
  if (would_be !== "ask") return `${printable(`${would_be}${rule}${matched}`)}\n`;
  const about = [why, no_rule, suggested_rule === undefined ? undefined : `a rule that would: allow ${suggested_rule}`];
  const lines = about.flatMap((one) => (one === undefined ? [] : [`  ${printable(one)}\n`]));
  return `ask: somebody decides it${rule}\n${lines.join("")}`;
}

async function showTested(api: Api, tested: RuleTested, terminal: Terminal): Promise<void> {
  const of = tested.tested === undefined ? "" : ` of ${tested.tested}`;
  terminal.out(`It would have decided ${counted(tested.decided, "request")}${of}.\n`);
  tellNote(tested, terminal);
  const { contradictions } = tested;
  if (contradictions.length === 0) return;
  const shown = contradictions.slice(0, MOST_SHOWN);
  const rows = await Promise.all(shown.map(async (one) => rowOf(one, await approvalOf(api, one))));
  terminal.out(table(["DECIDED", "SESSION", "WAS", "BY", "INPUT"], rows, terminal));
  if (contradictions.length > shown.length || tested.has_more)
    terminal.out("There are more: `--json` has the ids of up to 50.\n");
}

/** The request; `undefined` if the server has deleted it by age. */
async function approvalOf(api: Api, { approval_id: id }: Contradiction): Promise<Approval | undefined> {
  try {
    return (await api.call(getApproval, { params: { id } })).approval;
  } catch (cause) {
    if (cause instanceof Refused) return undefined;
    throw cause;
  }
}

function rowOf({ approval_id, was }: Contradiction, approval: Approval | undefined): string[] {
  if (!approval) return ["", "", was, "", approval_id];
  const { resolved_at, session_name, resolved_by, tool_name } = approval;
  const when = resolved_at ? new Date(resolved_at * 1000).toISOString().slice(0, 16).replace("T", " ") : "";
  return [when, session_name, was, decidedBy(resolved_by ?? ""), `${tool_name} ${summaryOf(approval)}`];
}
