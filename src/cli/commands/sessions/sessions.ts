import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig } from "../../../config.ts";
import { duration } from "../../../contract/duration.ts";
import { listSessions } from "../../../contract/routes/sessions.ts";
import type { SessionSummary } from "../../../contract/sessions/session-view.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const PAGE = 1_000;

type Options = Flags & { json?: true };

export function sessionsCommand(terminal: Terminal): Command {
  return clientCommand("sessions", "list the sessions, newest first")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const sessions = await allSessions(await openApi(readConfig(options)));
      if (options.json) return terminal.out(jsonText({ type: "ok", sessions }, terminal));
      if (sessions.length === 0) return terminal.err("There are no sessions: `plexus run NAME PROMPT` makes one.\n");
      terminal.out(sessionTable(sessions, terminal));
    });
}

async function allSessions(api: Api): Promise<SessionSummary[]> {
  const { allItems } = await import("../../../client/paging.ts");
  return allItems(PAGE, async (at) => {
    const page = await api.call(listSessions, { query: at });
    return { items: page.sessions, cursor: page.cursor };
  });
}

/** A name is one owner's: where there are several, it takes the id to name a session. */
function sessionTable(sessions: SessionSummary[], terminal: Terminal): string {
  const now = Date.now() / 1000;
  const isShared = new Set(sessions.map(({ owner }) => owner)).size > 1;
  const header = ["NAME", "STATUS", "PENDING", "COST", "AGE", ...(isShared ? ["OWNER", "ID"] : []), "DIRECTORY"];
  const rows = sessions.map((session) => [
    session.name,
    session.status,
    session.pending === 0 ? "-" : String(session.pending),
    `$${session.cost_usd.toFixed(2)}`,
    duration(now - session.created_at),
    ...(isShared ? [session.owner, session.id] : []),
    session.working_dir ?? "(started by hand)",
  ]);
  return table(header, rows, terminal);
}
