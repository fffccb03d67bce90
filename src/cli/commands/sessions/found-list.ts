import type { Api } from "../../../client/api.ts";
import { shortIds } from "../../../client/words/short-id.ts";
import { hitWords } from "../../../client/words/words.ts";
import { searchSession } from "../../../contract/routes/turns.ts";
import type { TranscriptHit } from "../../../contract/sessions/transcript-hit.ts";
import { moment } from "../../terminal/moment.ts";
import { jsonLine } from "../../terminal/printable.ts";
import { type Shares, table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const PAGE = 200;
const SHARES: Shares = [undefined, undefined, 0.2];

type Wanted = { key: string; search: string; limit: number; json: boolean };

/** Prints where a text occurs in all turns of a session, newest first. */
export async function listFound(api: Api, { key, search, limit, json }: Wanted, terminal: Terminal): Promise<void> {
  const { pagedItems } = await import("../../../client/paging.ts");
  const found: TranscriptHit[] = [];
  const hits = pagedItems(Math.min(limit, PAGE), async (at) => {
    const page = await api.call(searchSession, { params: { key }, query: { search, ...at } });
    return { items: page.hits, cursor: page.cursor };
  });
  for await (const hit of hits) {
    if (json) terminal.out(jsonLine(hit));
    if (found.push(hit) === limit) break;
  }
  if (found.length === 0) return terminal.err("Nothing in this session matches.\n");
  if (json) return;
  const short = terminal.isInteractive ? shortIds(found.map(({ turn_id }) => turn_id)) : (id: string) => id;
  const rows = found.map((hit) => [
    hit.at === undefined ? "" : moment(hit.at, terminal),
    short(hit.turn_id),
    hitWords(hit),
    hit.excerpt,
  ]);
  terminal.out(table(["AT", "TURN", "WHERE", "TEXT"], rows, terminal, SHARES));
}
