import { z } from "zod";
import { Approval } from "../../contract/approvals/approval.ts";
import { pause } from "../server/event-connection.ts";
import type { Server } from "../server/server-client.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";
import { type Inbox, LISTED_CHARS } from "./inbox.ts";

const PAGE = 200;
const RETRY_MS = 1_000;
const Page = z.object({ approvals: z.array(Approval), cursor: z.string().nullable() });

type Need = { find: () => Server; inbox: Inbox; signal: AbortSignal };

/** Fills the inbox with all that waits, however often the server goes away meanwhile. */
export function createPendingReader({ find, inbox, signal }: Need) {
  let underWay: Promise<void> | undefined;

  async function readAll(): Promise<void> {
    while (!signal.aborted) {
      try {
        inbox.beginReading();
        return inbox.load(await allPending(find()));
      } catch (cause) {
        if (!(cause instanceof CommandFailed) || cause.exitCode !== ExitCode.unreachable) throw cause;
        await pause(RETRY_MS, signal);
      }
    }
  }

  return {
    read(): Promise<void> {
      underWay ??= readAll().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
  };
}

/** The server pages from the newest back; people decide the oldest first. */
async function allPending(server: Server): Promise<Approval[]> {
  const newestFirst: Approval[] = [];
  let cursor: string | null = null;
  do {
    const shape = { status: "pending", limit: String(PAGE), max_chars: String(LISTED_CHARS) };
    const query = new URLSearchParams({ ...shape, ...(cursor && { cursor }) });
    const page: z.infer<typeof Page> = await server.request(Page, "GET", `/api/v1/approvals?${query}`);
    newestFirst.push(...page.approvals);
    cursor = page.cursor;
  } while (cursor !== null);
  return newestFirst.reverse();
}
