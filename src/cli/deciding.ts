import { RespondResult } from "../schema/approval.ts";
import { askDecision, type Choice } from "./asking.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Screen } from "./screen.ts";
import type { Server } from "./server-client.ts";
import { CommandFailed, type Terminal } from "./terminal.ts";

type DecidingNeed = {
  find: () => Server;
  /** Without one, nobody can be asked. */
  keyboard: Keyboard | undefined;
  screen: Screen;
  terminal: Terminal;
  onInterrupt: () => void;
};

/** Whoever watches a turn is asked about what its child asks, one after the other, for as long as nobody else has decided. */
export function createDeciding({ find, keyboard, screen, terminal, onInterrupt }: DecidingNeed) {
  const undecided = new Set<string>();
  let asking: { approvalId: string; over: AbortController } | undefined;

  async function askAll(asked: Keyboard): Promise<void> {
    for (let [next] = undecided; next !== undefined; [next] = undecided) {
      const approvalId = next;
      const over = new AbortController();
      asking = { approvalId, over };
      const choice = await askDecision({ keyboard: asked, screen, terminal, onInterrupt }, over.signal);
      if (choice && (await settle(approvalId, choice))) undecided.delete(approvalId);
      asking = undefined;
    }
  }

  /** `false` when the decision has not reached the server, so that it has to be asked for again. */
  async function settle(approvalId: string, choice: Choice): Promise<boolean> {
    if (choice.kind === "skip") {
      screen.note(howToDecide("It", approvalId));
      return true;
    }
    const decision = choice.kind === "allow" ? { approve: true } : { approve: false, message: choice.reason || null };
    try {
      await find().request(RespondResult, "POST", `/api/v1/approvals/${approvalId}/respond`, decision);
      return true;
    } catch (cause) {
      if (!(cause instanceof CommandFailed)) throw cause;
      screen.note(`Not decided: ${cause.message}`);
      return false;
    }
  }

  return {
    asked(approvalId: string, toolName: string): void {
      if (keyboard) undecided.add(approvalId);
      else screen.note(howToDecide(toolName, approvalId));
      if (keyboard && !asking) void askAll(keyboard);
    },
    resolved(approvalId: string): void {
      undecided.delete(approvalId);
      if (asking?.approvalId === approvalId) asking.over.abort();
    },
    [Symbol.dispose]() {
      undecided.clear();
      asking?.over.abort();
    },
  };
}

function howToDecide(what: string, approvalId: string): string {
  return `${what} waits for a decision: \`plexus allow ${approvalId}\`, or \`plexus deny ${approvalId} -m WHY\`.`;
}
