import type { Command } from "commander";
import { z } from "zod";
import { type Flags, readConfig } from "../../../config.ts";
import { Approval } from "../../../contract/approvals/approval.ts";
import type { JsonObject } from "../../../contract/values.ts";
import { kindOf } from "../../../review/kinds.ts";
import { findServer, type Server } from "../../server/server-client.ts";
import { clientCommand } from "../../server/settings.ts";
import { duration } from "../../terminal/duration.ts";
import { jsonText } from "../../terminal/printable.ts";
import { table } from "../../terminal/table.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { dangerLines } from "./decision.ts";

const PAGE = 100;
const MAX_EXAMINED = 50;
const Page = z.object({ approvals: z.array(Approval), cursor: z.string().nullable() });

const HINT = "Decide with `plexus allow ID` or `plexus deny ID -m WHY`; `plexus pending --json` shows whole inputs.";

type Options = Flags & { session?: string; json?: true };

export function pendingCommand(terminal: Terminal): Command {
  return clientCommand("pending", "list the calls that wait for a decision, oldest first")
    .option("--session <ID>", "only those of this session (its id or its name)")
    .option("--json", "print JSON, with the whole inputs")
    .action(async (options: Options) => {
      const approvals = await allPending(findServer(readConfig(options)));
      const { session } = options;
      const wanted = approvals.filter((one) => [undefined, one.session_id, one.session_name].includes(session));
      if (options.json) return terminal.out(jsonText({ type: "ok", approvals: wanted }, terminal));
      if (wanted.length === 0) return terminal.err("Nothing waits for a decision.\n");
      const header = ["ID", "SESSION", "TOOL", "AGE", "LEFT", "INPUT"];
      terminal.out(table(header, wanted.map(rowOf(Date.now() / 1000)), terminal));
      for (const warning of await warningsOf(wanted, () => findServer(readConfig(options)))) terminal.err(warning);
      if (terminal.isInteractive) terminal.out(`\n${HINT}\n`);
    });
}

/** Why `watch` and the page would want a second press, of the oldest; the table has no room for it. */
async function warningsOf(approvals: Approval[], find: () => Server): Promise<string[]> {
  const { examine } = (await import("../../watch/examining.ts")).createExamining(find, () => {});
  const examined = await Promise.all(approvals.slice(0, MAX_EXAMINED).map(examine));
  const left = approvals.length - examined.length;
  return [
    ...examined.flatMap(dangerLines).map((text) => `${text}\n`),
    ...(left > 0 ? [`${left} more were not looked at for dangers: see \`plexus watch\`.\n`] : []),
  ];
}

/** The server pages from the newest back; people decide the oldest first. */
async function allPending(server: Server): Promise<Approval[]> {
  const newestFirst: Approval[] = [];
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ status: "pending", limit: String(PAGE), ...(cursor && { cursor }) });
    const page: z.infer<typeof Page> = await server.request(Page, "GET", `/api/v1/approvals?${query}`);
    newestFirst.push(...page.approvals);
    cursor = page.cursor;
  } while (cursor !== null);
  return newestFirst.reverse();
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
