import { computed, signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { createConfirmation } from "../../client/confirmation.ts";
import { createDecisions } from "../../client/decisions.ts";
import type { InboxItem } from "../../client/inbox.ts";
import type { Decision } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { answered, hasChoices, nextOpen } from "../../review/choices.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { followed } from "../shared/followed.ts";
import type { SharedParts } from "../shared/parts.ts";
import type { Requests } from "./requests.ts";

/** So many decisions are on their way at once. */
const AT_ONCE = 8;

export type Deciding = ReturnType<typeof createDeciding>;

type DecidingNeed = {
  api: Api;
  requests: Requests;
  shared: Pick<SharedParts, "announcer" | "now">;
  onRefused: (cause: unknown) => boolean;
};

/** Decisions on what is checked, else on the selected request. */
export function createDeciding({ api, requests, shared, onRefused }: DecidingNeed) {
  const { inbox, reviews, answers } = requests;
  const { announce, complain } = shared.announcer;
  const confirmation = createConfirmation({ now: () => performance.now() });
  const decisions = createDecisions({ api, onDecided: inbox.remove, onBeaten: inbox.settle });
  const pressed = followed(confirmation.armed, confirmation);
  /** Why a key has done nothing to the selected question. */
  const hint = signal("");
  const isDeciding = signal(false);
  /** Which dialog is open over the inbox. */
  const dialog = signal<"none" | "deny" | "edit">("none");

  const disarm = () => {
    confirmation.disarm();
    hint.value = "";
  };
  // A first press is about what was selected then.
  computed(() => requests.selected.value?.approval.id).subscribe(disarm);

  function targets(): InboxItem[] {
    const checked = inbox.checked();
    if (checked.length > 0) return checked;
    const item = inbox.selected();
    return item && !item.outcome ? [item] : [];
  }

  async function allow(): Promise<void> {
    const chosen = targets();
    if (chosen.length === 0 || isDeciding.peek()) return;
    const target = idsOf(chosen);
    const press = await confirmation.press({
      target,
      reasons: () => reasonsFor(chosen),
      isCurrent: () => idsOf(targets()) === target,
    });
    if (press === "confirmed") await decideAll(chosen, { approve: true });
    if (press !== "armed") return;
    hint.value = "";
    announce(`Press again to allow: it ${confirmation.armed()?.reasons.join("; ")}`);
  }

  async function reasonsFor(chosen: InboxItem[]): Promise<string[]> {
    const reasons = new Set<string>();
    await eachOf(chosen, async ({ approval }) => {
      for (const { message } of (await reviews.review(approval)).dangers) reasons.add(message);
    });
    const isInView = chosen.length === 1 && chosen[0]?.approval.id === inbox.selected()?.approval.id;
    return isInView ? [...reasons] : [`allows ${chosen.length} selected, in view or not`, ...reasons];
  }

  async function allowWith(input: JsonObject): Promise<void> {
    const item = inbox.selected();
    if (item) await decideAll([item], { approve: true, updated_input: input });
  }

  async function decideAll(chosen: InboxItem[], decision: Decision): Promise<void> {
    if (chosen.length === 0 || isDeciding.peek()) return;
    disarm();
    isDeciding.value = true;
    complain("");
    try {
      await eachOf(chosen, (item) => decide(item, decision));
    } finally {
      confirmation.hesitate();
      isDeciding.value = false;
      dialog.value = "none";
    }
  }

  async function decide({ approval }: InboxItem, decision: Decision): Promise<void> {
    const call = `${visibleText(approval.tool_name)} of ${approval.session_name}`;
    const result = await decisions.send(approval, decision);
    if (result.kind === "decided") return announce(`${decision.approve ? "Allowed" : "Denied"} ${call}`);
    if (result.kind === "beaten") return announce(`${result.outcome.by} was faster: ${result.outcome.status}`);
    onRefused(result.reason);
    complain(`${call} was not decided: ${result.reason.message}`);
  }

  function explain(text: string): void {
    hint.value = text;
    announce(text);
  }

  return {
    /** What waits for its second press, and why; its time may have run out since. */
    armed: computed(() => {
      shared.now.value;
      return pressed.value && confirmation.armed();
    }),
    hint,
    isDeciding,
    dialog,
    targets,
    disarm,
    isOurs: decisions.isOurs,

    /** Allows at once; what is dangerous, or many, only when pressed twice. */
    allow,
    allowWith,

    /** By the key that allows: a question that somebody has begun to answer is not let go without the answers. */
    async allowByKey(): Promise<void> {
      const question = requests.question.peek();
      if (question && hasChoices(question.choices))
        explain("You have chosen answers: press Enter to send them, or Skip to leave them out.");
      else await allow();
    },

    /** Sends the answers that are chosen, once there is one for each question. */
    async answer(): Promise<void> {
      const question = requests.question.peek();
      if (!question || confirmation.isTooSoon()) return;
      const { approval, questions, choices } = question;
      const input = answered(approval.input, questions, choices);
      if (input) return allowWith(input);
      answers.keep(approval.id, nextOpen(questions, choices));
      explain("Choose an answer to every question first.");
    },

    async deny(chosen: InboxItem[], message: string, interrupt: boolean): Promise<void> {
      await decideAll(chosen, {
        approve: false,
        ...(message !== "" && { message }),
        ...(interrupt && { interrupt: true }),
      });
    },
  };
}

function idsOf(items: InboxItem[]): string {
  return items.map(({ approval }) => approval.id).join();
}

async function eachOf<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
