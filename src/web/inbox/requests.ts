import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { createAnswers } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import { createInbox } from "../../client/inbox.ts";
import { createReviews } from "../../client/reviews.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { Choices } from "../../review/choices.ts";
import { kindOf, type Question } from "../../review/kinds.ts";
import { followed } from "../shared/followed.ts";

const SETTLED_SHOWN_MS = 20_000;

export type OpenQuestion = { approval: Approval; questions: Question[]; choices: Choices };
export type Requests = ReturnType<typeof createRequests>;

type RequestsNeed = { api: Api; now: ReadonlySignal<number>; signal: AbortSignal };

/** The requests that need approval, and what is known of them, as signals. */
export function createRequests({ api, now, signal: whileSignedIn }: RequestsNeed) {
  const inbox = createInbox({ now: Date.now, settledShownMs: SETTLED_SHOWN_MS });
  const reviews = createReviews({ api });
  const answers = createAnswers();
  const stopTidying = now.subscribe(() => inbox.tidy());
  whileSignedIn.addEventListener("abort", stopTidying);
  const checked = followed(inbox.checked, inbox);

  /** The selected question, once all of it is read and for as long as it is pending; none while several are checked. */
  function findQuestion(): OpenQuestion | undefined {
    const item = inbox.selected();
    if (!item || item.outcome || inbox.checked().length > 0) return undefined;
    const known = reviews.known(item.approval.id);
    const approval = known?.approval ?? item.approval;
    const kind = kindOf(approval);
    if (kind.kind !== "questions" || (approval.truncated && !known)) return undefined;
    return { approval, questions: kind.questions, choices: answers.of(approval.id) };
  }

  /** On a narrow screen, list and card take turns. */
  const isCardOpen = signal(false);

  return {
    inbox,
    reviews,
    answers,
    list: followed(inbox.list, inbox),
    pendingCount: followed(() => inbox.pending().length, inbox),
    selected: followed(inbox.selected, inbox),
    checked,
    checkedIds: computed(() => new Set(checked.value.map(({ approval }) => approval.id))),
    isLoaded: followed(inbox.isLoaded, inbox),
    /** What is known of the selected one. */
    review: followed(() => reviews.known(inbox.selected()?.approval.id ?? ""), inbox, reviews),
    question: followed(findQuestion, inbox, reviews, answers),
    isCardOpen,
    openCard(id: string): void {
      inbox.select(id);
      isCardOpen.value = true;
    },
  };
}
