import type { Api } from "../../../client/api.ts";
import type { UnaskedCall } from "../../../contract/approvals/unasked-call.ts";
import { listUnaskedCalls } from "../../../contract/routes/unasked-calls.ts";
import { moment } from "../../terminal/moment.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { requestText } from "../../terminal/request-text.ts";
import { table } from "../../terminal/table.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";
import { sessionFilter } from "../sessions/session-key.ts";

const PAGE = 200;
const SESSION_SHARE = 0.2;

type Wanted = {
  session?: string;
  tool?: string;
  status?: string;
  by?: string;
  search?: string;
  since?: number;
  until?: number;
  builtin?: true;
  limit: number;
  json?: true;
};

/** Lists the calls that ran without permission from Plexus, newest first. */
export async function listUnasked(api: Api, wanted: Wanted, terminal: Terminal): Promise<void> {
  if (wanted.status || wanted.by || wanted.builtin || wanted.search) {
    throw new CommandFailed(
      "--unasked lists what nobody decided: leave out --status, --by, --search and --builtin.",
      ExitCode.usage,
    );
  }
  const { matches } = await sessionFilter(api, wanted.session);
  const found: UnaskedCall[] = [];
  for await (const call of calls(api)) {
    if (wanted.since !== undefined && call.at < wanted.since) break;
    if (wanted.until !== undefined && call.at >= wanted.until) continue;
    if (wanted.tool !== undefined && call.tool_name !== wanted.tool) continue;
    if (!matches(call)) continue;
    if (found.push(call) === wanted.limit) break;
  }
  if (wanted.json) return terminal.out(found.map((call) => jsonLine(call)).join(""));
  if (found.length === 0) return terminal.err("No call ran without being allowed.\n");
  const rows = found.map((call) => rowOf(call, terminal));
  terminal.out(table(["RAN", "SESSION", "SUPERVISION", "CALL"], rows, terminal, [undefined, SESSION_SHARE]));
}

async function* calls(api: Api): AsyncGenerator<UnaskedCall> {
  const { pagedItems } = await import("../../../client/paging.ts");
  yield* pagedItems(PAGE, async (at) => {
    const page = await api.call(listUnaskedCalls, { query: at });
    return { items: page.calls, cursor: page.cursor };
  });
}

function rowOf({ at, session_name, supervision, tool_name, tool_input }: UnaskedCall, terminal: Terminal): string[] {
  return [moment(at, terminal), session_name, supervision, requestText({ tool_name, input: tool_input })];
}
