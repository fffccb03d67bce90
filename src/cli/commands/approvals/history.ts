import { type Command, InvalidArgumentError, Option } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { type Approval, type ApprovalFilter, ApprovalStatus } from "../../../contract/approvals/approval.ts";
import { duration } from "../../../contract/duration.ts";
import { Refused } from "../../../contract/refused.ts";
import { listApprovals } from "../../../contract/routes/approvals.ts";
import { getSession } from "../../../contract/routes/sessions.ts";
import { summaryOf } from "../../../review/kinds.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { wholeNumber } from "../sessions/session-flags.ts";
import { listUnasked } from "./unasked-list.ts";

const PAGE = 200;
const LISTED_CHARS = 2_000;
const DEFAULT_LIMIT = 50;
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

type Options = Flags & {
  session?: string;
  tool?: string;
  status?: ApprovalStatus;
  since?: number;
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
    .option("--since <WHEN>", "only what was decided since: 30m, 12h, 7d, or a date such as 2026-01-31", moment)
    .option("--builtin", "what built-in rules decided, too")
    .option("--unasked", "the calls that ran although Plexus had not allowed them, instead")
    .option("--limit <N>", "how many at the most", wholeNumber, DEFAULT_LIMIT)
    .option("--json", "print one JSON object for each, one a line, with the whole inputs")
    .action(async (options: Options) => {
      const api = await openApi(readConfig({ dataDir: options.dataDir, url: options.url }));
      if (options.unasked) return listUnasked(api, options, terminal);
      let shown = 0;
      const rows: string[][] = [];
      for await (const approval of decisions(api, options)) {
        if (options.json) terminal.out(jsonLine(approval));
        else rows.push(rowOf(approval));
        if (++shown === options.limit) break;
      }
      if (options.json) return;
      if (rows.length === 0) return terminal.err("Nothing was decided yet, or nothing like this.\n");
      terminal.out(table(["DECIDED", "SESSION", "TOOL", "OUTCOME", "BY", "AFTER", "INPUT"], rows, terminal));
    });
}

/** Newest first, a page at a time, for as long as somebody wants more. */
async function* decisions(api: Api, options: Options): AsyncGenerator<Approval> {
  const { pagedItems } = await import("../../../client/paging.ts");
  const { session, tool, since, builtin, limit, json } = options;
  const sessionId = session === undefined ? undefined : await idOf(api, session);
  const status: ApprovalFilter = options.status ?? "resolved";
  const query = {
    status,
    since,
    session_id: sessionId,
    tool_name: tool,
    builtin: builtin && "true",
    max_chars: json ? undefined : LISTED_CHARS,
  };
  const isWanted = (one: Approval) =>
    sessionId !== undefined || [undefined, one.session_id, one.session_name].includes(session);
  const found = pagedItems(Math.min(limit, PAGE), async (at) => {
    const page = await api.call(listApprovals, { query: { ...query, ...at } });
    return { items: page.approvals, cursor: page.cursor };
  });
  for await (const approval of found) if (isWanted(approval)) yield approval;
}

/** A session that was deleted lives on in what was decided for it, by its name. */
async function idOf(api: Api, session: string): Promise<string | undefined> {
  try {
    return (await api.call(getSession, { params: { key: session } })).config.id;
  } catch (cause) {
    if (cause instanceof Refused && cause.code === "not_found") return undefined;
    throw cause;
  }
}

function rowOf(approval: Approval): string[] {
  const { resolved_at, created_at, response_message } = approval;
  const note = response_message === null ? "" : `  (${response_message})`;
  return [
    resolved_at === null ? "" : new Date(resolved_at * 1000).toISOString().replace(".000Z", "Z"),
    approval.session_name,
    approval.tool_name,
    approval.updated_input ? `${approval.status}, edited` : approval.status,
    approval.resolved_by ?? "",
    resolved_at === null ? "" : duration(resolved_at - created_at),
    `${summaryOf(approval)}${note}`,
  ];
}

/** In Unix seconds. */
function moment(value: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  if (count !== undefined) return Math.floor(Date.now() / 1000) - Number(count) * (UNITS[unit] ?? 0);
  const time = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time) || time < 0) throw new InvalidArgumentError("It must be like 30m, 12h or 7d, or a date.");
  return Math.floor(time / 1000);
}
