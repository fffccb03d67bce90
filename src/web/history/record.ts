import { signal } from "@preact/signals";
import { z } from "zod";
import { Approval, type ApprovalFilter } from "../../schema/approval.ts";
import { complain } from "../announcer.tsx";
import { reasonOf, request } from "../wire/request.ts";

const PAGE = 100;
const EXPORT_PAGE = 1000;
const LISTED_CHARS = 4_000;
const Page = z.object({ approvals: z.array(Approval), cursor: z.string().nullable() });

export type Filter = { status: ApprovalFilter; tool: string; session: string };
export const filter = signal<Filter>({ status: "resolved", tool: "", session: "" });
/** Decisions, the newest first. */
export const decisions = signal<Approval[]>([]);
export const isComplete = signal(false);

let cursor: string | null = null;
let generation = 0;

/** From the beginning, for the filter as it is. */
export async function loadHistory(): Promise<void> {
  generation++;
  cursor = null;
  isComplete.value = false;
  await loadPage([]);
}

export async function loadMore(): Promise<void> {
  if (!isComplete.peek()) await loadPage(decisions.peek());
}

let underWay: Promise<void> | undefined;

function loadPage(before: Approval[]): Promise<void> {
  if (before.length > 0 && underWay) return underWay;
  const mine = generation;
  underWay = listed(PAGE, cursor, LISTED_CHARS)
    .then((page) => {
      if (mine !== generation) return;
      decisions.value = [...before, ...page.approvals];
      cursor = page.cursor;
      isComplete.value = page.cursor === null;
    })
    .catch((cause) => complain(`The history can't be read: ${reasonOf(cause)}`))
    .finally(() => {
      underWay = undefined;
    });
  return underWay;
}

/** Everything that the filter lets through, whole, one JSON object a line. */
export async function exportHistory(): Promise<void> {
  try {
    const parts: string[] = [];
    for (let at: string | null = null; ; ) {
      const page: z.infer<typeof Page> = await listed(EXPORT_PAGE, at, undefined);
      parts.push(...page.approvals.map((approval) => `${JSON.stringify(approval)}\n`));
      at = page.cursor;
      if (at === null) break;
    }
    save(new Blob(parts, { type: "application/jsonl" }), "plexus-history.jsonl");
  } catch (cause) {
    complain(`The history can't be exported: ${reasonOf(cause)}`);
  }
}

function listed(limit: number, after: string | null, maxChars: number | undefined): Promise<z.infer<typeof Page>> {
  const { status, tool, session } = filter.peek();
  const query = new URLSearchParams({ status, limit: String(limit) });
  if (tool) query.set("tool_name", tool);
  if (session) query.set("session_id", session);
  if (maxChars !== undefined) query.set("max_chars", String(maxChars));
  if (after !== null) query.set("cursor", after);
  return request(Page, "GET", `/api/v1/approvals?${query}`);
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
