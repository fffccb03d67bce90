import type { Command } from "commander";
import { shortIds } from "../../../client/words/short-id.ts";
import { costText, SESSION_WORDS } from "../../../client/words/words.ts";
import { type Flags, readConfig } from "../../../config.ts";
import type { SessionSummary } from "../../../contract/sessions/session-view.ts";
import { duration } from "../../../contract/text/duration.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { type Shares, table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { allSessions } from "./session-key.ts";
import { updateCommand } from "./update.ts";

const SHARES: Shares = [0.2];

type Options = Flags & { json?: true };

export function sessionsCommand(terminal: Terminal): Command {
  return (
    clientCommand("sessions", "list the sessions, newest first")
      .option("--json", "print JSON")
      // Flags after a subcommand belong to the subcommand.
      .enablePositionalOptions()
      .addCommand(updateCommand(terminal))
      .action(async (options: Options) => {
        const sessions = await allSessions(await openApi(readConfig(options)));
        if (options.json) return terminal.out(jsonText({ type: "ok", sessions }, terminal));
        if (sessions.length === 0) return terminal.err("There are no sessions: `plexus run PROMPT` makes one.\n");
        terminal.out(sessionTable(sessions, terminal));
      })
  );
}

/** Names are unique only for each owner. With several owners, the table shows the ids too. */
function sessionTable(sessions: SessionSummary[], terminal: Terminal): string {
  const now = Date.now() / 1000;
  const short = terminal.isInteractive ? shortIds(sessions.map(({ id }) => id)) : (id: string) => id;
  const isShared = new Set(sessions.map(({ owner }) => owner)).size > 1;
  const header = ["NAME", "STATUS", "PENDING", "COST", "AGE", ...(isShared ? ["OWNER", "ID"] : []), "DIRECTORY"];
  const rows = sessions.map((session) => [
    session.name,
    SESSION_WORDS[session.status],
    session.pending === 0 ? "–" : String(session.pending),
    costText(session.cost_usd),
    duration(now - session.created_at),
    ...(isShared ? [session.owner, short(session.id)] : []),
    session.working_dir ?? "(started by hand)",
  ]);
  return table(header, rows, terminal, SHARES);
}
