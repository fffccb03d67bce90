import { type Command, InvalidArgumentError, Option } from "commander";
import type { Api } from "../../../client/api.ts";
import { isShortId, shortIds } from "../../../client/words/short-id.ts";
import { APPROVAL_WORDS } from "../../../client/words/words.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { type Approval, type ApprovalFilter, ApprovalStatus } from "../../../contract/approvals/approval.ts";
import { listApprovals } from "../../../contract/routes/approvals.ts";
import { shortDuration } from "../../../contract/text/duration.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { decidedShortly } from "../../terminal/decided-by.ts";
import { moment } from "../../terminal/moment.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { requestText } from "../../terminal/request-text.ts";
import { type Shares, table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { wholeNumber } from "../sessions/session-flags.ts";
import { sessionFilter } from "../sessions/session-key.ts";
import { timeSpan } from "./time-span.ts";
import { listUnasked } from "./unasked-list.ts";

const PAGE = 200;
const LISTED_CHARS = 2_000;
const DEFAULT_LIMIT = 50;
const SHARES: Shares = [undefined, undefined, 0.14, undefined, 0.12];

type Options = Flags & {
  session?: string;
  tool?: string;
  status?: ApprovalStatus;
  by?: string;
  search?: string;
  since?: number;
  until?: number;
  limit: number;
  builtin?: true;
  unasked?: true;
  json?: true;
};

export function historyCommand(terminal: Terminal): Command {
  const statuses = ApprovalStatus.options.filter((status) => status !== "pending");
  return clientCommand("history", "list what was decided, by whom and how fast, newest first")
    .option("--session <ID>", "only that of this session (its id or its name)")
    .option("--tool <NAME>", "only calls of this tool, such as Bash")
    .addOption(new Option("--status <STATUS>", "only what ended like this").choices(statuses))
    .option("--by <WHO>", "only what they decided: operator, token:NAME, rule (any rule), rule:ID, brake, timeout")
    .option("--search <TEXT>", "only what has this text in its request, session, reason or who decided")
    .option("--since <WHEN>", "only what was decided since: 30m, 12h, 7d, or a date such as 2026-01-31", instant)
    .option("--until <WHEN>", "only what was decided before: as with --since", instant)
    .option("--builtin", "what built-in rules decided, too")
    .option("--unasked", "the calls that ran although Plexus had not allowed them, instead")
    .option("--limit <N>", "how many at the most", wholeNumber, DEFAULT_LIMIT)
    .option("--json", "print one JSON object for each, one a line, with the whole inputs")
    .action(async (options: Options) => {
      const api = await openApi(readConfig({ dataDir: options.dataDir, url: options.url }));
      if (options.unasked) return listUnasked(api, options, terminal);
      let shown = 0;
      const found: Approval[] = [];
      for await (const approval of decisions(api, options)) {
        if (options.json) terminal.out(jsonLine(approval));
        else found.push(approval);
        if (++shown === options.limit) break;
      }
      if (options.json) return;
      if (found.length === 0) return terminal.err("Nothing was decided yet, or nothing like this.\n");
      const short = terminal.isInteractive ? shortIds(found.map(({ id }) => id)) : (id: string) => id;
      const rows = found.map((approval) => rowOf(approval, short, terminal));
      terminal.out(table(["DECIDED", "ID", "SESSION", "OUTCOME", "BY", "AFTER", "REQUEST"], rows, terminal, SHARES));
    });
}

/** Yields decisions, newest first, page by page, as long as the caller reads on. */
async function* decisions(api: Api, options: Options): AsyncGenerator<Approval> {
  const { pagedItems } = await import("../../../client/paging.ts");
  const { session, tool, search, since, until, builtin, limit, json } = options;
  const { id: sessionId, matches } = await sessionFilter(api, session);
  const status: ApprovalFilter = options.status ?? "resolved";
  const query = {
    status,
    search,
    since,
    until,
    session_id: sessionId,
    tool_name: tool,
    builtin: builtin && "true",
    max_chars: json ? undefined : LISTED_CHARS,
  };
  const isWanted = (one: Approval) => isBy(one, options.by) && matches(one);
  const found = pagedItems(Math.min(limit, PAGE), async (at) => {
    const page = await api.call(listApprovals, { query: { ...query, ...at } });
    return { items: page.approvals, cursor: page.cursor };
  });
  for await (const approval of found) if (isWanted(approval)) yield approval;
}

/** A kind such as `rule` stands for all rules. The end of a rule's id is enough. */
function isBy({ resolved_by }: Approval, by: string | undefined): boolean {
  if (by === undefined || resolved_by === by || resolved_by?.startsWith(`${by}:`)) return true;
  const [kind, end = ""] = by.split(":");
  return kind === "rule" && isShortId(end) && resolved_by?.startsWith("rule:") === true && resolved_by.endsWith(end);
}

function rowOf(approval: Approval, short: (id: string) => string, terminal: Terminal): string[] {
  const { resolved_at, created_at, response_message, updated_input } = approval;
  const { who, note: about } = decidedShortly(approval.resolved_by ?? "");
  const notes = [updated_input && "edited", about, response_message].filter(Boolean);
  return [
    resolved_at ? moment(resolved_at, terminal) : "",
    short(approval.id),
    approval.session_name,
    APPROVAL_WORDS[approval.status],
    who,
    resolved_at ? shortDuration(resolved_at - created_at) : "",
    `${requestText({ ...approval, input: updated_input ?? approval.input })}${notes.length > 0 ? `  (${notes.join(": ")})` : ""}`,
  ];
}

/** The time in Unix seconds. */
function instant(value: string): number {
  const ago = timeSpan(value);
  if (ago !== undefined) return Math.floor(Date.now() / 1000) - ago;
  const time = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time) || time < 0) throw new InvalidArgumentError("It must be like 30m, 12h or 7d, or a date.");
  return Math.floor(time / 1000);
}
