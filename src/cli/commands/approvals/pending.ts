import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { shortIds } from "../../../client/words/short-id.ts";
import { type Flags, readConfig } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { duration } from "../../../contract/text/duration.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { requestText } from "../../terminal/request-text.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { sessionFilter } from "../sessions/session-key.ts";

const MAX_REVIEWED = 50;
const SESSION_SHARE = 0.2;

const HINT = "Decide: `plexus allow ID`, `plexus deny ID -m WHY`. Whole inputs: --json.";

type Options = Flags & { session?: string; json?: true };

export function pendingCommand(terminal: Terminal): Command {
  return clientCommand("pending", "list the requests that need approval, oldest first")
    .option("--session <ID>", "only those of this session (its id or its name)")
    .option("--json", "print JSON, with the whole inputs")
    .action(async (options: Options) => {
      const api = await openApi(readConfig(options));
      const { allPending } = await import("../../../client/pending.ts");
      const approvals = await allPending(api, options.json ? {} : { context: "false" });
      const wanted = approvals.filter((await sessionFilter(api, options.session)).matches);
      if (options.json) return terminal.out(jsonText({ type: "ok", approvals: wanted }, terminal));
      if (wanted.length === 0) return terminal.err("No pending requests.\n");
      await showPending(wanted, api, terminal, approvals);
    });
}

/**
 * Prints a line for each request, warnings of dangers, and for a person how to decide. Short ids are unique `among`
 * these.
 */
export async function showPending(
  approvals: Approval[],
  api: Api,
  terminal: Terminal,
  among: Approval[] = approvals,
): Promise<void> {
  const now = Date.now() / 1000;
  // Programs get whole ids; people get the shortest that work.
  const short = terminal.isInteractive ? shortIds(among.map(({ id }) => id)) : (id: string) => id;
  const rows = approvals.map((approval) => [
    short(approval.id),
    approval.session_name,
    duration(now - approval.created_at),
    duration(approval.expires_at - now),
    requestText(approval),
  ]);
  terminal.out(table(["ID", "SESSION", "AGE", "LEFT", "REQUEST"], rows, terminal, [undefined, SESSION_SHARE]));
  for (const warning of await warningsOf(approvals, short, api)) terminal.err(warning);
  if (terminal.isInteractive) terminal.out(`\n${HINT}\n`);
}

/**
 * The dangers of the oldest requests, for which `watch` and the page require a second press. The table has no room for
 * them.
 */
async function warningsOf(approvals: Approval[], short: (id: string) => string, api: Api): Promise<string[]> {
  const [{ createReviews }, { dangerTexts }] = await Promise.all([
    import("../../../client/deciding/reviews.ts"),
    import("../../watch/request-lines.ts"),
  ]);
  const { review } = createReviews({ api });
  const reviewed = await Promise.all(approvals.slice(0, MAX_REVIEWED).map(review));
  const left = approvals.length - reviewed.length;
  return [
    ...reviewed.flatMap((review) => dangerTexts(review, short(review.approval.id))).map((text) => `${text}\n`),
    ...(left > 0 ? [`${left} more were not checked for dangers: see \`plexus watch\`.\n`] : []),
  ];
}
