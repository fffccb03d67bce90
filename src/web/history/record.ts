import { z } from "zod";
import { Approval, type ApprovalFilter } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { complain } from "../announcer.tsx";
import { callersOwn } from "../wire/callers-own.ts";
import { reasonOf, request } from "../wire/request.ts";

const PAGE = 100;
const LARGEST_PAGE = 1000;
const LISTED_CHARS = 4_000;
const RELOAD_AFTER_MS = 500;
const Page = z.object({ approvals: z.array(Approval), cursor: z.string().nullable() });

export type Filter = { status: ApprovalFilter; tool: string; session: string; builtin: boolean };
export const filter = callersOwn<Filter>({ status: "resolved", tool: "", session: "", builtin: false });
/** Decisions, the newest ask first. */
export const decisions = callersOwn<Approval[]>([]);
export const isComplete = callersOwn(false);
/** What a decision was seen of, to choose from; sessions by id, with their names. */
export const seenTools = callersOwn<ReadonlySet<string>>(new Set());
export const seenSessions = callersOwn<ReadonlyMap<string, string>>(new Map());

let cursor: string | null = null;
let generation = 0;
let watchers = 0;
let isMoreWanted = false;
let reload: ReturnType<typeof setTimeout> | undefined;

/** Keeps the list what the server has for as long as somebody looks at it. */
export function watchHistory(): () => void {
  watchers++;
  void loadHistory();
  return () => {
    watchers--;
  };
}

/** From the beginning, for the filter as it is. */
export async function loadHistory(): Promise<void> {
  generation++;
  cursor = null;
  isComplete.value = false;
  await load(() => listed(PAGE, null, LISTED_CHARS), []);
}

export async function loadMore(): Promise<void> {
  if (isComplete.peek() || isMoreWanted) return;
  isMoreWanted = true;
  await underWay;
  isMoreWanted = false;
  if (!isComplete.peek()) await load(() => listed(PAGE, cursor, LISTED_CHARS), decisions.peek());
}

/** Something was decided, or may have been: what is listed is read again, as far down as it reaches. */
export function historyChanged(event?: ChangeEvent): void {
  if (watchers === 0 || reload !== undefined || (event && event.type !== "approval_resolved")) return;
  reload = setTimeout(async () => {
    await underWay;
    reload = undefined;
    await load(() => listedDownTo(decisions.peek().at(-1)?.id), []);
  }, RELOAD_AFTER_MS);
}

let underWay: Promise<void> | undefined;

function load(read: () => Promise<z.infer<typeof Page>>, before: Approval[]): Promise<void> {
  const mine = generation;
  const loading = read()
    .then((page) => {
      if (mine !== generation) return;
      decisions.value = [...before, ...page.approvals];
      seenTools.value = new Set([...seenTools.peek(), ...page.approvals.map((one) => one.tool_name)]);
      const sessions = page.approvals.map((one) => [one.session_id, one.session_name] as const);
      seenSessions.value = new Map([...seenSessions.peek(), ...sessions]);
      cursor = page.cursor;
      isComplete.value = page.cursor === null;
    })
    .catch((cause) => complain(`The history can't be read: ${reasonOf(cause)}`))
    .finally(() => {
      if (underWay === loading) underWay = undefined;
    });
  underWay = loading;
  return loading;
}

async function listedDownTo(oldestId: string | undefined): Promise<z.infer<typeof Page>> {
  const approvals: Approval[] = [];
  for (let after: string | null = null; ; ) {
    const limit = Math.min(LARGEST_PAGE, Math.max(PAGE, decisions.peek().length));
    const page = await listed(limit, after, LISTED_CHARS);
    approvals.push(...page.approvals);
    after = page.cursor;
    const isEnough = oldestId === undefined || page.approvals.some(({ id }) => id <= oldestId);
    if (after === null || isEnough) return { approvals, cursor: after };
  }
}

/** Everything that the filter lets through, whole, one JSON object a line. */
export async function exportHistory(): Promise<void> {
  try {
    const parts: string[] = [];
    for (let at: string | null = null; ; ) {
      const page: z.infer<typeof Page> = await listed(LARGEST_PAGE, at, undefined);
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
  const { status, tool, session, builtin } = filter.peek();
  const query = new URLSearchParams({ status, limit: String(limit) });
  if (tool) query.set("tool_name", tool);
  if (session) query.set("session_id", session);
  if (builtin) query.set("builtin", "true");
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
