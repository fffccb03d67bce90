import { type Decision, RespondResult } from "../../contract/approvals/approval.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import type { JsonObject } from "../../contract/values.ts";
import type { Server } from "../server/server-client.ts";
import { CommandFailed, type Style } from "../terminal/terminal.ts";
import type { Examined } from "./examining.ts";
import type { Ask, Outcome } from "./inbox.ts";

const ARMED_MS = 8_000;
/** A press so soon after the last one was meant for what stood there before, or is the same one, held down. */
const SETTLE_MS = 350;

export type Deciding = ReturnType<typeof createDeciding>;

type DecidingNeed = {
  find: () => Server;
  /** Whether this one still waits before the eyes of the person. */
  isCurrent: (id: string) => boolean;
  onDecided: (id: string) => void;
  onBeaten: (id: string, outcome: Outcome) => void;
  say: (text: string, style?: Style) => void;
  examine: (ask: Ask) => Promise<Examined>;
};

/** Decisions by key: what is dangerous takes two presses, and nothing is decided that was not there to be seen. */
export function createDeciding({ find, isCurrent, onDecided, onBeaten, say, examine }: DecidingNeed) {
  let armed: { id: string; until: number } | undefined;
  let settledAt = Number.NEGATIVE_INFINITY;
  /** On their way to the server, or just there. */
  const ours = new Set<string>();

  const hesitate = () => {
    settledAt = performance.now() + SETTLE_MS;
  };

  async function send({ approval }: Ask, decision: Decision): Promise<void> {
    const what = `${approval.tool_name} of ${approval.session_name}`;
    ours.add(approval.id);
    try {
      const path = `/api/v1/approvals/${approval.id}/respond`;
      const answer = await find().request(RespondResult, "POST", path, decision);
      if (answer.type === "ok") {
        onDecided(approval.id);
        say(`${decision.approve ? "Allowed" : "Denied"} ${what}.`, decision.approve ? "green" : "red");
      } else {
        const { status, resolved_by: by } = answer;
        onBeaten(approval.id, { status, by, message: null });
        say(`Somebody was faster: ${what} was ${status.replace("_", " ")} by ${by}.`, "yellow");
      }
    } catch (cause) {
      if (!(cause instanceof CommandFailed)) throw cause;
      say(`Not decided: ${cause.message}`, "yellow");
    } finally {
      ours.delete(approval.id);
      hesitate();
    }
  }

  return {
    hesitate,
    disarm(): void {
      armed = undefined;
    },
    /** Whether this tells what our own answer tells. */
    isOurs: (event: ChangeEvent) => event.type === "approval_resolved" && ours.has(event.approval_id),

    /** Allows it, with another input if there is one; at once, or when it was pressed again. */
    async allow(ask: Ask, input: JsonObject | undefined): Promise<void> {
      const { id } = ask.approval;
      if (ours.has(id)) return;
      if (performance.now() < settledAt) return hesitate();
      const isArmed = armed?.id === id && performance.now() < armed.until;
      armed = undefined;
      if (!isArmed) {
        const { dangers } = await examine(ask);
        // The person may have moved on while we looked, or somebody else has decided.
        if (!isCurrent(id) || ours.has(id)) return;
        if (dangers.length > 0) {
          armed = { id, until: performance.now() + ARMED_MS };
          hesitate();
          const reasons = dangers.map(({ message }) => message).join("; ");
          return say(`Press a again to allow it, though it ${reasons}.`, "yellow");
        }
      }
      await send(ask, { approve: true, updated_input: input });
    },

    /** Allows a question with the answers that were chosen for it; that runs nothing, so it takes one press. */
    async answer(ask: Ask, input: JsonObject): Promise<void> {
      const { id } = ask.approval;
      if (performance.now() < settledAt) return hesitate();
      if (isCurrent(id) && !ours.has(id)) await send(ask, { approve: true, updated_input: input });
    },

    async deny(ask: Ask, reason: string): Promise<void> {
      if (!ours.has(ask.approval.id)) await send(ask, { approve: false, message: reason || undefined });
    },
  };
}
