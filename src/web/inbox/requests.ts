import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { createAnswers } from "../../client/deciding/answers.ts";
import { createReviews } from "../../client/deciding/reviews.ts";
import { createInbox, type InboxItem, isOpen } from "../../client/inbox.ts";
import { createListeners } from "../../client/listeners.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { Choices } from "../../review/choices.ts";
import { kindOf, type Question } from "../../review/kinds.ts";
import { followed } from "../shared/followed.ts";

const SETTLED_SHOWN_MS = 20_000;
/** How long a request that someone else decided stays beside its transcript. */
const ENDED_SHOWN_SECS = 6;

export type OpenQuestion = { approval: Approval; questions: Question[]; choices: Choices };
export type Requests = ReturnType<typeof createRequests>;

type RequestsNeed = { api: Api; now: ReadonlySignal<number>; signal: AbortSignal };

/** The requests that need approval, and everything known about them, as signals. */
export function createRequests({ api, now, signal: whileSignedIn }: RequestsNeed) {
  const inbox = createInbox({ now: Date.now, settledShownMs: SETTLED_SHOWN_MS });
  const reviews = createReviews({ api });
  const answers = createAnswers();
  const stopTidying = now.subscribe(() => inbox.tidy());
  whileSignedIn.addEventListener("abort", stopTidying);
  /** The session whose transcript is open. While it is set, only its requests can be selected, one at a time. */
  let sessionId: string | undefined;
  const session = createListeners();
  /** Fires when the page itself selects another request: a press right after was not meant for it. */
  const advanced = createListeners();

  const isHere = ({ approval }: InboxItem) => sessionId === undefined || approval.session_id === sessionId;
  const pending = () => inbox.pending().filter(isHere);
  const checkedNow = () => (sessionId === undefined ? inbox.checked() : []);
  const selectedNow = () => {
    const item = inbox.selected();
    return item && isHere(item) ? item : undefined;
  };
  const checked = followed(checkedNow, inbox, session);

  function advance(): void {
    if (sessionId === undefined) return;
    const item = selectedNow();
    const isOver = item?.outcome !== undefined && now.peek() - item.outcome.at >= ENDED_SHOWN_SECS;
    if (item && !isOver && !item.isHeld) return;
    const next = pending()[0];
    if (!next && (!item || item.isHeld)) return;
    inbox.select(next?.approval.id);
    if (next) advanced.changed();
  }
  const stopAdvancing = now.subscribe(advance);
  whileSignedIn.addEventListener("abort", stopAdvancing);
  inbox.onChange(advance);

  /**
   * The selected question once it is fully loaded, while it is pending; `undefined` while several requests are checked.
   */
  function findQuestion(): OpenQuestion | undefined {
    const item = selectedNow();
    if (!item || !isOpen(item) || checkedNow().length > 0) return undefined;
    const known = reviews.known(item.approval.id);
    const approval = known?.approval ?? item.approval;
    const kind = kindOf(approval);
    if (kind.kind !== "questions" || (approval.truncated && !known)) return undefined;
    return { approval, questions: kind.questions, choices: answers.of(approval.id) };
  }

  /** On a narrow screen, the list and the card alternate. */
  const isCardOpen = signal(false);

  return {
    inbox,
    reviews,
    answers,
    list: followed(inbox.list, inbox),
    pendingCount: followed(() => inbox.pending().length, inbox),
    selectedNow,
    checkedNow,
    selected: followed(selectedNow, inbox, session),
    checked,
    checkedIds: computed(() => new Set(checked.value.map(({ approval }) => approval.id))),
    isLoaded: followed(inbox.isLoaded, inbox),
    /** The review of the selected request, as far as it is loaded. */
    review: followed(() => reviews.known(selectedNow()?.approval.id ?? ""), inbox, reviews, session),
    question: followed(findQuestion, inbox, reviews, answers, session),
    onAdvanced: advanced.onChange,
    /** The pending requests of the session whose transcript is open. */
    pendingHere: followed(pending, inbox, session),
    isBesideTranscript: () => sessionId !== undefined,
    /** Limits the selection to the requests of this session. Returns a function that ends this. */
    showSession(id: string): () => void {
      sessionId = id;
      session.changed();
      advance();
      return () => {
        if (sessionId !== id) return;
        sessionId = undefined;
        session.changed();
      };
    },
    /** Moves the selection by this many requests. */
    move(by: number): void {
      if (sessionId === undefined) {
        inbox.move(by);
        return;
      }
      const list = pending();
      const at = list.findIndex(({ approval }) => approval.id === selectedNow()?.approval.id);
      const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
      if (next) inbox.select(next.approval.id);
    },
    /** Their denial is held: select another request meanwhile. */
    hold(approvals: Approval[]): void {
      const ids = approvals.map(({ id }) => id);
      inbox.setHeld(ids, true);
      if (sessionId === undefined) inbox.moveOn();
    },
    /** Their denial is no longer held. */
    release(approvals: Approval[]): void {
      const ids = approvals.map(({ id }) => id);
      inbox.setHeld(ids, false);
    },
    /** Selects the request again if possible. */
    reselect(approval: Approval | undefined): void {
      if (approval && inbox.isPending(approval.id) && isHere({ approval })) inbox.select(approval.id);
    },
    isCardOpen,
    openCard(id: string): void {
      inbox.select(id);
      isCardOpen.value = true;
    },
  };
}
