import type { Confirmation } from "../../../client/deciding/confirmation.ts";
import type { Decider, Denial, SentDecision } from "../../../client/deciding/decider.ts";
import { createHeldDenials, HELD_SECS, type HeldDenial } from "../../../client/deciding/held-denials.ts";
import type { InboxItem, RequestEnd } from "../../../client/inbox.ts";
import { callWords, endedFirstWords } from "../../../client/words/words.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import type { Announcer } from "../../shared/announcer.tsx";
import { followed } from "../../shared/followed.ts";
import { linkTo } from "../../shared/route.ts";
import type { Requests } from "../requests.ts";

type HoldingNeed = {
  decider: Decider;
  confirmation: Confirmation;
  requests: Requests;
  announcer: Announcer;
  /** Reports the result of each decision that was sent. */
  onSent: (sent: SentDecision[]) => void;
  signal: AbortSignal;
};

/** Whether a closing page can still send. Without this ability, no denial is held. */
const CAN_SEND_LAST = "keepalive" in Request.prototype;

/** Holds denials back for a moment, in which the person can take them back. */
export function createHolding({ decider, confirmation, requests, announcer, onSent, signal }: HoldingNeed) {
  const { announce, note } = announcer;
  const held = createHeldDenials({ send, now: () => Date.now() / 1_000 });

  async function send({ approvals, denial }: HeldDenial): Promise<void> {
    const sent = await decider.denyHeld(approvals, denial);
    // Requests whose denial the server did not accept need a decision again.
    requests.release(approvals);
    onSent(sent);
  }

  function noteEnded(ended: { approval: Approval; outcome: RequestEnd }[]): void {
    const [first, ...others] = ended;
    if (!first) return;
    const { approval, outcome } = first;
    const text =
      others.length > 0
        ? `${ended.length} requests ended before your denial was sent`
        : `${callWords([approval])} ${endedFirstWords(outcome)}`;
    const link = others.length > 0 ? linkTo.history : linkTo.decision(approval.id);
    announce(text);
    note({ text, link: { to: link, name: others.length > 0 ? "History" : "See it" } });
  }

  const sendAll = () => held.sendAll();
  const onHidden = () => {
    if (document.visibilityState === "hidden") void sendAll();
  };
  // The page closes, so send everything that is held.
  addEventListener("pagehide", () => void sendAll(), { signal });
  document.addEventListener("visibilitychange", onHidden, { signal });

  return {
    all: followed(held.all, held),
    noteEnded,

    /** Holds the denials as far as possible. Returns the requests to deny immediately. */
    hold(approvals: Approval[], denial: Denial): Approval[] {
      const open = approvals.filter(({ id }) => requests.inbox.isPending(id));
      const { held: taken } = CAN_SEND_LAST ? held.hold(open, denial) : { held: [] };
      if (taken.length > 0) {
        requests.hold(taken);
        confirmation.hesitate();
        announce(`Denying ${callWords(taken)} in ${HELD_SECS} seconds: press z to take it back`);
      }
      const isTaken = new Set(taken);
      return approvals.filter((one) => !isTaken.has(one));
    },

    /** Takes back this denial, or the last one: its requests need approval again. */
    takeBack(denial?: HeldDenial): void {
      const back = held.takeBack(denial?.approvals[0]?.id);
      if (!back) return;
      requests.release(back.approvals);
      requests.reselect(back.approvals[0]);
      confirmation.hesitate();
      announce(`Taken back: ${callWords(back.approvals)} not denied`);
    },

    /** Reports held requests that someone else decided or that timed out. */
    ended(settled: InboxItem[]): void {
      const over = new Set(held.ended(new Set(settled.map(({ approval }) => approval.id))).map(({ id }) => id));
      noteEnded(
        settled.flatMap(({ approval, outcome }) => (over.has(approval.id) && outcome ? [{ approval, outcome }] : [])),
      );
    },

    sendAll,
    drop: held.drop,
  };
}
