import { z } from "zod";
import type { ChangeEvent } from "../../contract/change.ts";
import { SessionSummary } from "../../contract/sessions/session-view.ts";
import { complain } from "../announcer.tsx";
import { callersOwn } from "../wire/callers-own.ts";
import { reasonOf, request } from "../wire/request.ts";

const PAGE = 200;
const RELOAD_AFTER_MS = 300;
const Page = z.object({ sessions: z.array(SessionSummary), has_more: z.boolean(), cursor: z.string().nullable() });

/** The newest first. */
export const sessions = callersOwn<SessionSummary[]>([]);
export const cursor = callersOwn<string | null>(null);
export const areListed = callersOwn(false);

let watchers = 0;
let reload: ReturnType<typeof setTimeout> | undefined;

/** Keeps the list what the server has for as long as somebody looks at it. */
export function watchSessions(): () => void {
  watchers++;
  void loadSessions();
  return () => {
    watchers--;
  };
}

export async function loadSessions(): Promise<void> {
  await load("", []);
}

export async function loadMoreSessions(): Promise<void> {
  if (cursor.peek() !== null) await load(`&cursor=${encodeURIComponent(cursor.peek() ?? "")}`, sessions.peek());
}

async function load(after: string, before: SessionSummary[]): Promise<void> {
  try {
    const page = await request(Page, "GET", `/api/v1/sessions?limit=${PAGE}${after}`);
    sessions.value = [...before, ...page.sessions];
    cursor.value = page.cursor;
    areListed.value = true;
  } catch (cause) {
    complain(`The sessions can't be listed: ${reasonOf(cause)}`);
  }
}

/** Something began, ended or was decided: what the list says is no longer so. */
export function sessionsChanged(_event: ChangeEvent): void {
  if (watchers === 0 || reload !== undefined) return;
  reload = setTimeout(() => {
    reload = undefined;
    void loadSessions();
  }, RELOAD_AFTER_MS);
}
