import type { Command } from "commander";
import type { Api } from "../../../client/api.ts";
import { type Flags, readConfig } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { duration } from "../../../contract/duration.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { kindOf } from "../../../review/kinds.ts";
import { openApi } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { jsonText } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";

const MAX_REVIEWED = 50;

const HINT = "Decide with `plexus allow ID` or `plexus deny ID -m WHY`; `plexus pending --json` shows whole inputs.";

type Options = Flags & { session?: string; json?: true };

export function pendingCommand(terminal: Terminal): Command {
  return clientCommand("pending", "list the requests that need approval, oldest first")
    .option("--session <ID>", "only those of this session (its id or its name)")
    .option("--json", "print JSON, with the whole inputs")
    .action(async (options: Options) => {
      const api = await openApi(readConfig(options));
      const { allPending } = await import("../../../client/pending.ts");
      const approvals = await allPending(api);
      const { session } = options;
      const wanted = approvals.filter((one) => [undefined, one.session_id, one.session_name].includes(session));
      if (options.json) return terminal.out(jsonText({ type: "ok", approvals: wanted }, terminal));
      if (wanted.length === 0) return terminal.err("No pending requests.\n");
      const header = ["ID", "SESSION", "TOOL", "AGE", "LEFT", "INPUT"];
      terminal.out(table(header, wanted.map(rowOf(Date.now() / 1000)), terminal));
      for (const warning of await warningsOf(wanted, api)) terminal.err(warning);
      if (terminal.isInteractive) terminal.out(`\n${HINT}\n`);
    });
}

/** Why allowing them in `watch` or on the page would take a second press, of the oldest; the table has no room for it. */
async function warningsOf(approvals: Approval[], api: Api): Promise<string[]> {
  const [{ createReviews }, { dangerTexts }] = await Promise.all([
    import("../../../client/reviews.ts"),
    import("../../watch/request-lines.ts"),
  ]);
  const { review } = createReviews({ api });
  const reviewed = await Promise.all(approvals.slice(0, MAX_REVIEWED).map(review));
  const left = approvals.length - reviewed.length;
  return [
    ...reviewed.flatMap(dangerTexts).map((text) => `${text}\n`),
    ...(left > 0 ? [`${left} more were not checked for dangers: see \`plexus watch\`.\n`] : []),
  ];
}

const rowOf = (now: number) => (approval: Approval) => [
  approval.id,
  approval.session_name,
  approval.tool_name,
  duration(now - approval.created_at),
  duration(approval.expires_at - now),
  JSON.stringify(inputOf(approval)),
];

/** What changes how a command runs stands before the command, which may be too long for the row. */
function inputOf(approval: Approval): JsonObject {
  const kind = kindOf(approval);
  return kind.kind === "command" ? { ...kind.further, ...approval.input } : approval.input;
}
