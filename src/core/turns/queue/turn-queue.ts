import { AppError } from "../../../contract/refusals/errors.ts";
import type { Storage } from "../../../storage/storage.ts";
import type {
  BeginTurn,
  BegunTurn,
  QueueChoice,
  QueuedTurn,
  QueueLimits,
  QueueState,
  RunningTurn,
} from "../../../storage/turns.ts";
import { tokenIdIn } from "../../access/principals.ts";
import type { Tokens } from "../../access/tokens.ts";
import type { Session } from "../../sessions/sessions.ts";
import { type OwnerQueue, startOrder } from "./fair-share.ts";
import { nextStart, type Start } from "./slots.ts";

const MEGABYTE = 1024 * 1024;
const LIMITS: QueueLimits = {
  inAll: { count: 1_000, bytes: 256 * MEGABYTE },
  ofOne: { count: 200, bytes: 64 * MEGABYTE },
};
/** The checkpoint of a turn whose output was not read yet. */
const BEGINNING = { offset: 0 };

export type TurnQueue = ReturnType<typeof createTurnQueue>;
/** A queued turn that may start, and the version of the queue on which the choice is based. */
export type ChosenTurn = Start & QueuedTurn & { version: string };
type QueueNeed = {
  storage: Pick<Storage, "sessions" | "turns">;
  tokens: Pick<Tokens, "ownersIn">;
  maxRunning: number;
  now: () => number;
};

/**
 * Decides which turns run and which wait; slots are shared fairly between owners. The choice is made here, on a state
 * of the queue that was read before. Storage accepts it only if that state is still current, so two choices never take
 * one slot.
 */
export function createTurnQueue({ storage, tokens, maxRunning, now }: QueueNeed) {
  /** Per running turn: the owners whose tokens its child holds. */
  let held = new Map<string, string[]>();

  async function choose(state: QueueState, waiting: QueuedTurn[]): Promise<Start | undefined> {
    const known = held;
    const children = await Promise.all(
      state.running.map(async (turn) => ({ ...turn, heldTokens: known.get(turn.id) ?? (await tokensHeldIn(turn)) })),
    );
    held = new Map(children.map(({ id, heldTokens }) => [id, heldTokens]));
    return nextStart(queuesOf(waiting, state), children, maxRunning);
  }

  function queuesOf(waiting: QueuedTurn[], { running, lastStarts }: QueueState): OwnerQueue[] {
    return Map.groupBy(waiting, ({ owner }) => owner)
      .entries()
      .map(([owner, turns]) => ({
        owner,
        waiting: turns.map(({ id }) => id),
        running: running.filter((turn) => turn.owner === owner).length,
        lastStart: lastStarts.get(owner) ?? 0,
      }))
      .toArray();
  }

  async function tokensHeldIn({ sessionId }: RunningTurn): Promise<string[]> {
    const servers = (await storage.sessions.get(sessionId))?.config?.mcp_servers;
    return servers ? tokens.ownersIn(JSON.stringify(servers)) : [];
  }

  return {
    /** Files a turn, which starts at once or is queued. A session has one turn at a time. */
    async begin(
      { id: sessionId, name, owner }: Session,
      { id, prompt, ephemeral }: { id: string; prompt: string; ephemeral: boolean },
    ): Promise<BegunTurn> {
      const turn = { id, sessionId, ephemeral, startedAt: now(), prompt, checkpoint: BEGINNING };
      const admission = { maxRunning, limits: LIMITS, ownerToken: tokenIdIn(owner) };
      // Repeats only if another turn was started, queued or ended meanwhile, so there is always progress.
      for (let choice: QueueChoice | undefined; ; ) {
        const begun = await storage.turns.begin(turn, { ...admission, choice });
        if (begun.outcome === "running" || begun.outcome === "queued") return begun;
        if (begun.outcome === "outdated_id") throw new OutdatedId(begun.latest);
        if (begun.outcome !== "choose") throw refusal(begun.outcome, name, maxRunning);
        const { version, queued } = begun.queue;
        choice = { version, start: await choose(begun.queue, [...queued, { id, owner }]) };
      }
    },

    /** The queued turn that may start now, if any. */
    async next(): Promise<ChosenTurn | undefined> {
      const state = await storage.turns.queueState();
      const start = state.queued.length === 0 ? undefined : await choose(state, state.queued);
      const chosen = state.queued.find(({ id }) => id === start?.id);
      return start && chosen && { ...start, ...chosen, version: state.version };
    },

    /** Marks a queued turn as running; `undefined` if it is no longer next. */
    async beginQueued({ owner, ...chosen }: ChosenTurn): Promise<BegunTurn | undefined> {
      const begun = await storage.turns.beginQueued(chosen, tokenIdIn(owner), now());
      if (begun.outcome === "no_session") throw new AppError("not_found", "The session of this turn was deleted.");
      return begun.outcome === "running" ? begun : undefined;
    },

    /** The turn's place, from 1; `undefined` if it is not queued. */
    async place(turnId: string): Promise<number | undefined> {
      const state = await storage.turns.queueState();
      return startOrder(queuesOf(state.queued, state)).indexOf(turnId) + 1 || undefined;
    },
  };
}

/** The session already has a turn with a later id. The new turn needs an id after that. */
export class OutdatedId extends Error {
  override readonly name = "OutdatedId";
  constructor(readonly latest: string) {
    super(`turn ${latest} has a later id`);
  }
}

type Refused = Exclude<BeginTurn["outcome"], "running" | "queued" | "choose" | "outdated_id">;

function refusal(outcome: Refused, name: string, maxRunning: number): AppError {
  switch (outcome) {
    case "no_session":
      return new AppError("not_found", `Session "${name}" was deleted.`);
    case "owner_revoked":
      return new AppError(
        "forbidden",
        (by) =>
          `The token that made session "${name}" was revoked, so no turn starts in it. Fork it to go on with it${by.fork}: the fork is yours.`,
      );
    case "busy":
      return new AppError(
        "turn_running",
        (by) =>
          `Session "${name}" has a turn that runs, waits for your decision, or is queued: decide${by.decide}, wait${by.wait}, or cancel it first${by.cancel}.`,
      );
    case "queue_full":
      return limitReached("The queue is full", maxRunning);
    case "own_queue_full":
      return limitReached("Your part of the queue is full", maxRunning);
  }
}

function limitReached(what: string, limit: number): AppError {
  return new AppError(
    "limit_reached",
    (by) =>
      `${what}: ${limit} children run, which is the limit (--max-running), and too many turns wait. Wait for one to end${by.wait}, or cancel one${by.cancel}.`,
  );
}
