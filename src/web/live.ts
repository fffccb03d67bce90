import { signal } from "@preact/signals";
import type { Api } from "../client/api.ts";
import { changesOf } from "../client/feeds.ts";
import type { InboxItem } from "../client/inbox.ts";
import { createPendingReader } from "../client/pending.ts";
import type { ChangeEvent } from "../contract/change.ts";
import { whoAmI } from "../contract/routes/sign-in.ts";
import type { Caller } from "../contract/sign-in.ts";
import type { History } from "./history/record.ts";
import type { Deciding } from "./inbox/deciding.ts";
import type { Requests } from "./inbox/requests.ts";
import type { RuleList } from "./rules/rule-list.ts";
import type { SessionList } from "./sessions/session-list.ts";
import { visibleText } from "./shared/elements/visible.tsx";
import type { SharedParts } from "./shared/parts.ts";
import { linkTo } from "./shared/route.ts";

/** Handles events within this time together, so that many cost as little as one. */
const GATHER_MS = 10;
/** During a stream of events, those of a few frames are drawn together. */
const STREAM = { gatherMs: 60, isOverAfterMs: 200 };

type Connection = "connecting" | "live" | "lost";

type LiveNeed = {
  api: Api;
  caller: Caller;
  requests: Requests;
  deciding: Deciding;
  history: History;
  sessions: SessionList;
  rules: RuleList;
  shared: SharedParts;
  onRefused: (cause: unknown) => boolean;
};

/** Keeps the page in step with the server. */
export function createLive(need: LiveNeed) {
  const { api, caller, requests, deciding, history, sessions, rules, shared, onRefused } = need;
  const connection = signal<Connection>("connecting");
  /** The server is now of another version than this page. */
  const isOutdated = signal(false);
  /** Increases when a turn is queued, starts or ends. */
  const turnChanges = signal(0);
  const arriving: ChangeEvent[] = [];
  let takenAt = Number.NEGATIVE_INFINITY;

  async function follow(whileSignedIn: AbortSignal): Promise<void> {
    const pending = createPendingReader({ api, inbox: requests.inbox, signal: whileSignedIn });
    const fail = (cause: unknown) => {
      if (whileSignedIn.aborted) return;
      connection.value = "lost";
      onRefused(cause);
    };
    const changes = changesOf({
      api,
      signal: whileSignedIn,
      onOpen: (isGapless) => {
        if (!isGapless) history.changed();
        loadPending(pending).catch(fail);
      },
      onLost: fail,
    });
    for await (const event of changes) take(event);
  }

  /** Load the list only after the stream is open, so that nothing falls between them. */
  async function loadPending(pending: ReturnType<typeof createPendingReader>): Promise<void> {
    await pending.read();
    connection.value = "live";
    isOutdated.value = (await api.call(whoAmI)).version !== caller.version;
  }

  function take(event: ChangeEvent): void {
    if (event.type.startsWith("turn_")) turnChanges.value++;
    sessions.changed();
    history.changed(event);
    rules.changed(event);
    if (event.type === "unasked_call") warnOf(event);
    if (deciding.isOurs(event) || arriving.push(event) > 1) return;
    const isStreaming = performance.now() - takenAt < STREAM.isOverAfterMs;
    setTimeout(
      () => {
        takenAt = performance.now();
        const { asked, settled } = requests.inbox.take(arriving.splice(0));
        deciding.holding.ended(settled);
        tell(asked);
      },
      isStreaming ? STREAM.gatherMs : GATHER_MS,
    );
  }

  function tell(fresh: InboxItem[]): void {
    const [first] = fresh;
    if (!first) return;
    const { id, session_name, tool_name } = first.approval;
    const text =
      fresh.length === 1
        ? `${visibleText(tool_name)} of ${session_name} needs approval`
        : `${fresh.length} new requests`;
    shared.announcer.announce(text);
    shared.sound.newRequest();
    shared.notifier.notify(text, () => {
      location.hash = linkTo.request(id);
    });
  }

  /** A call ran without permission. No other message on the page is more important. */
  function warnOf({ session_id, session_name, tool_name }: ChangeEvent & { type: "unasked_call" }): void {
    const text = `${session_name} ran ${visibleText(tool_name)} although Plexus had not allowed it`;
    shared.announcer.complain(`${text}: see its transcript.`);
    shared.notifier.notify(text, () => {
      location.hash = linkTo.session(session_id);
    });
  }

  return { connection, isOutdated, turnChanges, follow };
}
