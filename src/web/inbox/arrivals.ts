import { batch } from "@preact/signals";
import { z } from "zod";
import { Approval } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { approvalFromEvent } from "../../review/approval-event.ts";
import { request } from "../wire/request.ts";
import { type Ask, isLoaded, keepSelection, known, selected, selectedId } from "./asks.ts";

const LIST_PAGE = 500;
/** What a row and most cards need of an input; the whole is fetched when a card is opened. */
const LISTED_CHARS = 8_000;
const GATHER_MS = 10;

const Page = z.object({ approvals: z.array(Approval), cursor: z.string().nullable() });

/** What the stream has told while a list was on its way, which is older than that. */
const told = { asked: new Set<string>(), settled: new Set<string>() };
let isListing = false;

/** Everything that is pending now, in place of what we believed to be. */
export async function loadAsks(): Promise<void> {
  told.asked.clear();
  told.settled.clear();
  isListing = true;
  try {
    const listed = await listPending();
    reconcile(listed, await endOfSelected(listed));
  } finally {
    isListing = false;
  }
}

async function listPending(): Promise<Map<string, Approval>> {
  const listed = new Map<string, Approval>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const after: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/api/v1/approvals?status=pending&limit=${LIST_PAGE}&max_chars=${LISTED_CHARS}${after}`;
    const page: z.infer<typeof Page> = await request(Page, "GET", path);
    for (const approval of page.approvals) listed.set(approval.id, approval);
    cursor = page.cursor;
  }
  return listed;
}

function reconcile(listed: Map<string, Approval>, ended: Ask | undefined): void {
  const isListed = (id: string) => listed.has(id) || told.asked.has(id);
  batch(() => {
    const next = new Map([...known.peek()].filter(([id, { outcome }]) => isListed(id) || outcome !== undefined));
    for (const [id, approval] of listed) if (!next.has(id) && !told.settled.has(id)) next.set(id, ask(approval));
    if (ended) next.set(ended.approval.id, ended);
    known.value = next;
    isLoaded.value = true;
    keepSelection();
  });
}

/** Whoever looks at it wants to know what has become of it. */
async function endOfSelected(listed: Map<string, Approval>): Promise<Ask | undefined> {
  const id = selectedId.peek();
  if (id === undefined || listed.has(id) || told.asked.has(id) || selected.peek()?.outcome) return undefined;
  const answer = await request(z.object({ approval: Approval }), "GET", `/api/v1/approvals/${id}`).catch(
    () => undefined,
  );
  if (!answer || answer.approval.resolved_at === null) return undefined;
  const { status, resolved_by, resolved_at, response_message } = answer.approval;
  const outcome = { status, by: resolved_by ?? "", at: resolved_at, message: response_message, lost: false };
  return { approval: answer.approval, outcome };
}

const arriving: ChangeEvent[] = [];
let isDue = false;

/** Takes what the stream tells; many at once cost as little as one. Says which asks are new. */
export function takeEvent(event: ChangeEvent, onNew: (asks: Ask[]) => void): void {
  if (isListing && event.type === "approval_requested") told.asked.add(event.approval_id);
  if (isListing && event.type === "approval_resolved") told.settled.add(event.approval_id);
  arriving.push(event);
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    onNew(applyEvents(arriving.splice(0)));
  }, GATHER_MS);
}

function applyEvents(events: ChangeEvent[]): Ask[] {
  const next = new Map(known.peek());
  const fresh = new Map<string, Ask>();
  for (const event of events) {
    if (event.type === "approval_requested" && !next.has(event.approval_id)) {
      const one = ask(approvalFromEvent(event));
      next.set(event.approval_id, one);
      fresh.set(event.approval_id, one);
    }
    const settled = event.type === "approval_resolved" ? next.get(event.approval_id) : undefined;
    if (event.type === "approval_resolved") fresh.delete(event.approval_id);
    if (event.type !== "approval_resolved" || !settled || settled.outcome) continue;
    next.set(event.approval_id, {
      ...settled,
      outcome: {
        status: event.status,
        by: event.resolved_by,
        at: event.resolved_at,
        message: event.response_message,
        lost: false,
      },
    });
  }
  batch(() => {
    known.value = next;
    keepSelection();
  });
  return [...fresh.values()];
}

function ask(approval: Approval): Ask {
  return { approval, outcome: undefined };
}
