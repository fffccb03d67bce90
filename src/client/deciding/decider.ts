import type { Approval } from "../../contract/approvals/approval.ts";
import { type Decision, MAX_DECISIONS } from "../../contract/approvals/decision.ts";
import type { Remember } from "../../contract/rules/rule.ts";
import type { JsonObject } from "../../contract/values.ts";
import { type InboxItem, isOpen } from "../inbox.ts";
import { createListeners } from "../listeners.ts";
import type { Confirmation } from "./confirmation.ts";
import type { DecisionResult, Decisions } from "./decisions.ts";
import { editedReview, type Reviews } from "./reviews.ts";

/** How many requests are read at the same time. */
const AT_ONCE = 8;

export type Denial = Omit<Decision, "approve">;
export type SentDecision = { approval: Approval; decision: Decision; result: DecisionResult };

/** Further parts of an allow. */
type How = { updated_input?: JsonObject; remember?: Remember };

/** The result of a press: decisions, the need for a second press, or nothing. */
export type DeciderResult =
  | { kind: "sent"; decisions: SentDecision[] }
  | { kind: "armed"; reasons: string[] }
  | { kind: "too_soon" }
  | { kind: "moved_on" };

export type Decider = ReturnType<typeof createDecider>;

type DeciderNeed = {
  confirmation: Confirmation;
  decisions: Decisions;
  reviews: Pick<Reviews, "review">;
  /** The request on the screen. */
  selected: () => InboxItem | undefined;
  /** The checked requests, which are decided together. */
  checked?: () => InboxItem[];
};

/**
 * Decides the checked requests, or else the one on the screen. Dangerous requests, or several at once, need a second
 * press to be allowed.
 */
export function createDecider({ confirmation, decisions, reviews, selected, checked = () => [] }: DeciderNeed) {
  const { onChange, changed } = createListeners();
  let sending = 0;

  function inView(): Approval[] {
    const item = selected();
    return item && isOpen(item) ? [item.approval] : [];
  }

  function targets(): Approval[] {
    const many = checked().map(({ approval }) => approval);
    return many.length > 0 ? many : inView();
  }

  const isUnderWay = ({ id }: Approval) => decisions.isUnderWay(id);

  async function press(find: () => Approval[], how: How = {}): Promise<DeciderResult> {
    const approvals = find();
    const ids = idsOf(approvals);
    const isCurrent = () => idsOf(find()) === ids && !approvals.some(isUnderWay);
    if (approvals.length === 0 || !isCurrent()) return { kind: "moved_on" };
    const pressed = await confirmation.press({
      // The second press must be for the same input and rule as the first one.
      target: JSON.stringify([ids, how]),
      reasons: () => reasonsFor(approvals, how.updated_input),
      isCurrent,
    });
    switch (pressed) {
      case "confirmed":
        return send(approvals, { approve: true, ...how });
      case "armed":
        return { kind: "armed", reasons: confirmation.armed()?.reasons ?? [] };
      case "too_soon":
        return tooSoon();
      case "moved_on":
        return { kind: "moved_on" };
    }
  }

  /** A key that is held down never counts as a second press. */
  function tooSoon(): DeciderResult {
    confirmation.hesitate();
    return { kind: "too_soon" };
  }

  async function reasonsFor(approvals: Approval[], input: JsonObject | undefined): Promise<string[]> {
    const reasons = new Set<string>();
    await eachOf(approvals, async (approval) => {
      const review = await reviews.review(approval);
      const { dangers } = input ? editedReview(review, input) : review;
      for (const { message } of dangers) reasons.add(message);
    });
    const isInView = idsOf(approvals) === idsOf(inView());
    return isInView ? [...reasons] : [`allows ${approvals.length} selected, in view or not`, ...reasons];
  }

  async function send(approvals: Approval[], decision: Decision): Promise<DeciderResult> {
    const sent: SentDecision[] = [];
    confirmation.disarm();
    sending++;
    changed();
    try {
      for (const together of batchesOf(approvals)) {
        sent.push(...sentAs(together, decision, await decisions.send(together, decision)));
        confirmation.hesitate();
      }
    } finally {
      sending--;
      changed();
    }
    return { kind: "sent", decisions: sent };
  }

  return {
    onChange,
    isSending: () => sending > 0,
    /** The requests that a decision would be about. */
    targets,

    allow: (): Promise<DeciderResult> => press(targets),

    /** Allows the request on the screen with an edited input, whose dangers count instead. */
    allowEdited: (input: JsonObject): Promise<DeciderResult> => press(inView, { updated_input: input }),

    /** Allows the request on the screen, or an edited input, and creates a rule from what runs. */
    allowAndRemember: (remember: Remember, input?: JsonObject): Promise<DeciderResult> =>
      press(inView, { remember, ...(input && { updated_input: input }) }),

    /** Allows a question with the chosen answers. That runs nothing, so one press is enough. */
    async answer(approval: Approval, input: JsonObject): Promise<DeciderResult> {
      if (confirmation.isTooSoon()) return tooSoon();
      const isCurrent = idsOf(inView()) === approval.id && !isUnderWay(approval);
      return isCurrent ? send([approval], { approve: true, updated_input: input }) : { kind: "moved_on" };
    },

    /** Denies the requests that the reason was written for, whatever the screen shows now. */
    async deny(approvals: Approval[], denial: Denial): Promise<DeciderResult> {
      const open = approvals.filter((approval) => !isUnderWay(approval));
      return open.length > 0 ? send(open, { approve: false, ...denial }) : { kind: "moved_on" };
    },

    /**
     * Sends a held denial all at once, because the page may be about to close; by now, the screen shows something else.
     */
    async denyHeld(approvals: Approval[], denial: Denial): Promise<SentDecision[]> {
      const decision = { approve: false, ...denial };
      const shown = idsOf(inView());
      const sent = await Promise.all(
        batchesOf(approvals).map(async (together) =>
          sentAs(together, decision, await decisions.send(together, decision, { keepalive: true })),
        ),
      );
      if (idsOf(inView()) !== shown) confirmation.hesitate();
      return sent.flat();
    },
  };
}

/** Splits requests into batches of the size that one call may have. */
function batchesOf(approvals: Approval[]): Approval[][] {
  const count = Math.ceil(approvals.length / MAX_DECISIONS);
  return Array.from({ length: count }, (_, at) => approvals.slice(at * MAX_DECISIONS, (at + 1) * MAX_DECISIONS));
}

function sentAs(approvals: Approval[], decision: Decision, results: DecisionResult[]): SentDecision[] {
  return approvals.flatMap((approval, at) => {
    const result = results[at];
    return result ? [{ approval, decision, result }] : [];
  });
}

function idsOf(approvals: Approval[]): string {
  return approvals.map(({ id }) => id).join();
}

async function eachOf<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
