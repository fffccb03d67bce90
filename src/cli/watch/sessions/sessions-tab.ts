import type { Api } from "../../../client/api.ts";
import { byAttention, createSessionList } from "../../../client/session-list.ts";
import { isUnreachable, Refused } from "../../../contract/refusals/refused.ts";
import type { SessionSummary } from "../../../contract/sessions/session-view.ts";
import { ENTER, ESCAPE } from "../../terminal/keys.ts";
import { type Line, line } from "../../terminal/lines.ts";
import type { Style } from "../../terminal/terminal.ts";
import { createFilter, FILTER_KEYS } from "../screen/filter.ts";
import { keyBar } from "../screen/key-bar.ts";
import { DOWN, PAGE_DOWN, PAGE_UP, UP } from "../screen/moving-keys.ts";
import type { Tab } from "../tab.ts";
import { sessionLines, sessionRule } from "./session-lines.ts";
import { createTranscript, type Transcript } from "./transcript.ts";

const LIST_KEYS = ["Enter follow", "Tab requests", "j/k move", "/ filter"];
const TRANSCRIPT_KEYS = ["Esc back", "j/k PgDn scroll", "G end", "Tab requests"];
const DECIDE_KEY = "Enter decide";

type SessionsTabNeed = {
  api: Api;
  rows: () => number;
  isShown: () => boolean;
  /** Goes to a request of this session that needs approval. */
  decide: (sessionId: string) => void;
  say: (text: string, style?: Style) => void;
  redraw: () => void;
  fail: (cause: unknown) => void;
  signal: AbortSignal;
};

/** The tab with the sessions, those that need attention first, and the transcript of one of them. */
export function createSessionsTab({ api, rows, isShown, decide, say, redraw, fail, signal }: SessionsTabNeed) {
  const onFailure = (cause: unknown) => {
    // The head of the screen already shows that the server is away.
    if (!isUnreachable(cause)) fail(cause);
  };
  const sessions = createSessionList({ api, onFailure, signal });
  sessions.onChange(redraw);
  const filter = createFilter(redraw);
  let stopWatching: (() => void) | undefined;
  let selectedId: string | undefined;
  let opened: { session: SessionSummary; transcript: Transcript } | undefined;

  function listed(): SessionSummary[] {
    const wanted = filter.text().trim().toLowerCase();
    const text = ({ name, working_dir }: SessionSummary) => `${name} ${working_dir ?? ""}`.toLowerCase();
    return sessions
      .items()
      .filter((session) => text(session).includes(wanted))
      .toSorted(byAttention);
  }

  /** The chosen session while it is listed, else the first one. */
  function selected(): SessionSummary | undefined {
    const list = listed();
    return list.find(({ id }) => id === selectedId) ?? list[0];
  }

  function move(by: number): void {
    const list = listed();
    const at = list.findIndex(({ id }) => id === selected()?.id) + by;
    selectedId = list[Math.min(list.length - 1, Math.max(0, at))]?.id;
    if (at >= list.length) void sessions.loadMore();
  }

  function open(): void {
    const session = selected();
    if (!session) return;
    selectedId = session.id;
    const onEnd = (cause: unknown) => {
      if (opened?.transcript !== transcript) return;
      if (!(cause instanceof Refused) || cause.status === 401) return fail(cause);
      close();
      sessions.changed();
      say(`${session.name}: ${cause.message}`, "yellow");
    };
    const transcript = createTranscript({ api, sessionId: session.id, onChange: redraw, onEnd });
    opened = { session, transcript };
  }

  function close(): void {
    opened?.transcript[Symbol.dispose]();
    opened = undefined;
    redraw();
  }

  const page = () => Math.max(1, rows() - 2);
  const inList: Record<string, () => void> = {
    g: () => move(-Number.MAX_SAFE_INTEGER),
    G: () => move(listed().length),
    "/": filter.begin,
    [PAGE_DOWN]: () => move(page()),
    [PAGE_UP]: () => move(-page()),
    ...each(ENTER, open),
    ...each(DOWN, () => move(1)),
    ...each(UP, () => move(-1)),
  };
  const inTranscript = ({ session, transcript }: NonNullable<typeof opened>): Record<string, () => void> => ({
    g: () => transcript.scrollBy(-Number.MAX_SAFE_INTEGER),
    G: transcript.toEnd,
    [ESCAPE]: close,
    [PAGE_DOWN]: () => transcript.scrollBy(page()),
    [PAGE_UP]: () => transcript.scrollBy(-page()),
    ...each(ENTER, () => decide(session.id)),
    ...each([...DOWN, "J"], () => transcript.scrollBy(1)),
    ...each([...UP, "K"], () => transcript.scrollBy(-1)),
  });

  function listView(columns: number) {
    const list = listed();
    const shown = { sessions: list, selectedId: selected()?.id, now: Date.now() / 1000, columns };
    return {
      body: list.length === 0 ? [nothing()] : sessionLines(shown, rows()),
      written: filter.line(columns),
      keys: filter.isWriting() ? FILTER_KEYS : keyBar(LIST_KEYS, columns),
    };
  }

  function nothing(): Line {
    if (!sessions.isRead()) return [];
    return line(sessions.items().length === 0 ? "No sessions" : "No session matches the filter", "dim");
  }

  function transcriptView({ session: known, transcript }: NonNullable<typeof opened>, columns: number) {
    const session = sessions.items().find(({ id }) => id === known.id) ?? known;
    const { lines, part } = transcript.view(columns, rows() - 1);
    const keys = session.pending > 0 ? [DECIDE_KEY, ...TRANSCRIPT_KEYS] : TRANSCRIPT_KEYS;
    const rule = sessionRule(session, part, Date.now() / 1000, columns);
    return { body: [rule, ...lines], written: undefined, keys: keyBar(keys, columns) };
  }

  const tab: Tab = {
    takeText: (key) => isShown() && filter.take(key),
    take: (key) => (opened ? inTranscript(opened) : inList)[key]?.(),
    entered(): void {
      stopWatching ??= sessions.watch();
    },
    left(): void {
      stopWatching?.();
      stopWatching = undefined;
    },
    about: () => (opened || filter.text() === "" ? "" : `/${filter.text()}`),
    view: (columns) => (opened ? transcriptView(opened, columns) : listView(columns)),
  };
  return {
    ...tab,
    /** Call this when something began, ended or was decided. */
    changed: sessions.changed,
    [Symbol.dispose]: close,
  };
}

function each(keys: string[], act: () => void): Record<string, () => void> {
  return Object.fromEntries(keys.map((key) => [key, act]));
}
