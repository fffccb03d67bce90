import type { Command } from "commander";
import { z } from "zod";
import { type Flags, readConfig } from "../../../config.ts";
import { SessionSummary } from "../../../contract/sessions/session-view.ts";
import { findServer, type Server } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { duration } from "../../terminal/duration.ts";
import { jsonText } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const PAGE = 1_000;
const Page = z.object({ sessions: z.array(SessionSummary), cursor: z.string().nullable() });

type Options = Flags & { json?: true };

export function sessionsCommand(terminal: Terminal): Command {
  return clientCommand("sessions", "list the sessions, newest first")
    .option("--json", "print JSON")
    .action(async (options: Options) => {
      const sessions = await allSessions(findServer(readConfig(options)));
      if (options.json) return terminal.out(jsonText({ type: "ok", sessions }, terminal));
      if (sessions.length === 0) return terminal.err("There are no sessions: `plexus run NAME PROMPT` makes one.\n");
      terminal.out(sessionTable(sessions, terminal));
    });
}

async function allSessions(server: Server): Promise<SessionSummary[]> {
  const sessions: SessionSummary[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(PAGE), ...(cursor && { cursor }) });
    const page: z.infer<typeof Page> = await server.request(Page, "GET", `/api/v1/sessions?${query}`);
    sessions.push(...page.sessions);
    cursor = page.cursor;
  } while (cursor !== null);
  return sessions;
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
