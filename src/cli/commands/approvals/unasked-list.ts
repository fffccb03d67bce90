import { z } from "zod";
import { UnaskedCall } from "../../../contract/approvals/unasked-call.ts";
import { summaryOf } from "../../../review/kinds.ts";
import type { Server } from "../../server/server-client.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";

const PAGE = 200;
const Page = z.object({ calls: z.array(UnaskedCall), cursor: z.string().nullable() });

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
export async function listUnasked(server: Server, wanted: Wanted, terminal: Terminal): Promise<void> {
  if (wanted.status || wanted.builtin) {
    throw new CommandFailed("--unasked lists what nobody decided: leave out --status and --builtin.", ExitCode.usage);
  }
  const found: UnaskedCall[] = [];
  for await (const call of calls(server)) {
    if (wanted.since !== undefined && call.at < wanted.since) break;
    if (wanted.tool !== undefined && call.tool_name !== wanted.tool) continue;
    if (![undefined, call.session_id, call.session_name].includes(wanted.session)) continue;
    if (found.push(call) === wanted.limit) break;
  }
  if (wanted.json) return terminal.out(found.map((call) => jsonLine(call)).join(""));
  if (found.length === 0) return terminal.err("No call ran without being allowed.\n");
  terminal.out(table(["RAN", "SESSION", "SUPERVISION", "TOOL", "INPUT"], found.map(rowOf), terminal));
}

async function* calls(server: Server): AsyncGenerator<UnaskedCall> {
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page: z.infer<typeof Page> = await server.request(Page, "GET", `/api/v1/unasked?limit=${PAGE}${after}`);
    yield* page.calls;
    cursor = page.cursor;
  } while (cursor !== null);
}

function rowOf({ at, session_name, supervision, tool_name, tool_input }: UnaskedCall): string[] {
  const time = new Date(at * 1000).toISOString().replace(".000Z", "Z");
  return [time, session_name, supervision, tool_name, summaryOf({ tool_name, input: tool_input })];
}
