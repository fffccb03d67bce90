import type { JsonObject } from "../../src/contract/values.ts";
import { type Decision, type Resolution, resolutionOf } from "./decisions.ts";

/** Moments that the actors see; the server is killed around them. */
export type Moment = "filing" | "told" | "deciding" | "acknowledged" | "answered";

/** One permission request of a child. */
export type Ask = {
  sessionId: string;
  toolUseId: string;
  input: JsonObject;
  /** Nobody decides it, so that it times out. */
  isLeft: boolean;
};
/** The first decision, as later deciders learn of it. */
export type First = { status: string; resolved_by: string; resolved_at: number };
export type Acknowledged = { approvalId: string; resolution: Resolution };
export type Answered = { approvalId: string; ask: Ask; answer: JsonObject };

export type Ledger = ReturnType<typeof createLedger>;

/** Records everything that the actors have sent and received, independently of the server. */
export function createLedger() {
  const figures = {
    asks: 0,
    "asks given up": 0,
    "asks hung up on": 0,
    "asks resumed": 0,
    "asks repeated": 0,
    "asked again when answered": 0,
    answers: 0,
    "decisions sent": 0,
    "decisions acknowledged": 0,
    "decisions too late": 0,
    "decisions cut off": 0,
    races: 0,
    events: 0,
    "event streams": 0,
    sessions: 0,
  };
  const owners = new Map<string, string>();
  const asks = new Map<string, Ask>();
  const sent = new Map<string, Resolution[]>();
  const acknowledged = new Map<string, { resolution: Resolution; position: number }>();
  const firsts = new Map<string, First>();
  let news = noNews();
  let waiting: { moment: Moment; left: number; resolve: () => void }[] = [];

  /** Resolves the promises for this moment, before anything else happens. */
  function happened(moment: Moment): void {
    for (const wait of waiting) if (wait.moment === moment && --wait.left === 0) wait.resolve();
    waiting = waiting.filter(({ left }) => left > 0);
  }

  return {
    figures,
    happened,
    /** Resolves at the `count`th such moment from now. */
    next: (moment: Moment, count = 1): Promise<void> =>
      new Promise((resolve) => waiting.push({ moment, left: count, resolve })),

    opened(sessionId: string, owner: string): void {
      figures.sessions++;
      owners.set(sessionId, owner);
    },
    ownerOf: (sessionId: string): string | undefined => owners.get(sessionId),

    /** Records that a child has read the first event of its answer. */
    told(approvalId: string, ask: Ask): void {
      if (!asks.has(approvalId)) news.told.push(approvalId);
      asks.set(approvalId, ask);
      happened("told");
    },
    askOf: (approvalId: string): Ask | undefined => asks.get(approvalId),
    answered(answer: Answered): void {
      figures.answers++;
      news.answered.push(answer);
      happened("answered");
    },

    /** Call before sending the decision: from then on the server may have it. */
    decisionSent(approvalId: string, decision: Decision, by: string): Resolution {
      figures["decisions sent"]++;
      const resolution = resolutionOf(decision, by);
      sent.set(approvalId, [...(sent.get(approvalId) ?? []), resolution]);
      return resolution;
    },
    sentFor: (approvalId: string): Resolution[] => sent.get(approvalId) ?? [],
    /** Returns whether it is the only acknowledged decision on its approval. */
    acknowledge(approvalId: string, resolution: Resolution): boolean {
      figures["decisions acknowledged"]++;
      const isOnly = !acknowledged.has(approvalId);
      if (isOnly) acknowledged.set(approvalId, { resolution, position: figures["decisions acknowledged"] });
      news.acknowledged.push({ approvalId, resolution });
      happened("acknowledged");
      return isOnly;
    },
    acknowledgedFor: (approvalId: string): Resolution | undefined => acknowledged.get(approvalId)?.resolution,
    /** Returns how many decisions were acknowledged after this one; `undefined` if it was not acknowledged. */
    acknowledgedSince(approvalId: string): number | undefined {
      const position = acknowledged.get(approvalId)?.position;
      return position === undefined ? undefined : figures["decisions acknowledged"] - position;
    },
    /** Returns the answer to the first decider that came too late. */
    tooLate(approvalId: string, first: First): First {
      figures["decisions too late"]++;
      const before = firsts.get(approvalId) ?? first;
      firsts.set(approvalId, before);
      return before;
    },
    firstOf: (approvalId: string): First | undefined => firsts.get(approvalId),

    /** Returns everything new since the last call. */
    takeNews() {
      const taken = news;
      news = noNews();
      return taken;
    },
    /** Returns everything since the beginning, except the answers, which are compared only once. */
    everything: () => ({
      told: [...asks.keys()],
      acknowledged: [...acknowledged].map(([approvalId, { resolution }]) => ({ approvalId, resolution })),
    }),
  };
}

function noNews(): { told: string[]; acknowledged: Acknowledged[]; answered: Answered[] } {
  return { told: [], acknowledged: [], answered: [] };
}
