import type { Api } from "../../../client/api.ts";
import type { UnaskedCall } from "../../../contract/approvals/unasked-call.ts";
import { listUnaskedCalls } from "../../../contract/routes/unasked-calls.ts";
import { summaryOf } from "../../../review/kinds.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";

const PAGE = 200;

type Wanted = {
  session?: string;
  tool?: string;
  status?: string;
  since?: number;
  builtin?: true;
  limit: number;
  json?: true;
};

/** Lists the calls that ran although Plexus had not allowed them, newest first. */
export async function listUnasked(api: Api, wanted: Wanted, terminal: Terminal): Promise<void> {
  if (wanted.status || wanted.builtin) {
    throw new CommandFailed("--unasked lists what nobody decided: leave out --status and --builtin.", ExitCode.usage);
  }
  const found: UnaskedCall[] = [];
  for await (const call of calls(api)) {
    if (wanted.since !== undefined && call.at < wanted.since) break;
    if (wanted.tool !== undefined && call.tool_name !== wanted.tool) continue;
    if (![undefined, call.session_id, call.session_name].includes(wanted.session)) continue;
    if (found.push(call) === wanted.limit) break;
  }
  if (wanted.json) return terminal.out(found.map((call) => jsonLine(call)).join(""));
  if (found.length === 0) return terminal.err("No call ran without being allowed.\n");
  terminal.out(table(["RAN", "SESSION", "SUPERVISION", "TOOL", "INPUT"], found.map(rowOf), terminal));
}

async function* calls(api: Api): AsyncGenerator<UnaskedCall> {
  const { pagedItems } = await import("../../../client/paging.ts");
  yield* pagedItems(PAGE, async (at) => {
    const page = await api.call(listUnaskedCalls, { query: at });
    return { items: page.calls, cursor: page.cursor };
  });
}

function rowOf({ at, session_name, supervision, tool_name, tool_input }: UnaskedCall): string[] {
  const time = new Date(at * 1000).toISOString().replace(".000Z", "Z");
  return [time, session_name, supervision, tool_name, summaryOf({ tool_name, input: tool_input })];
}
