import { computed, signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { createConfirmation } from "../../client/confirmation.ts";
import { createDecider, type DeciderResult, type SentDecision } from "../../client/decider.ts";
import { createDecisions } from "../../client/decisions.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { answered, hasChoices, nextOpen } from "../../review/choices.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { followed } from "../shared/followed.ts";
import type { SharedParts } from "../shared/parts.ts";
import type { Requests } from "./requests.ts";

export type Deciding = ReturnType<typeof createDeciding>;

type DecidingNeed = {
  api: Api;
  requests: Requests;
  shared: Pick<SharedParts, "announcer" | "now">;
  onRefused: (cause: unknown) => boolean;
};

/** The decider as the page shows it, and what it says of each result. */
export function createDeciding({ api, requests, shared, onRefused }: DecidingNeed) {
  const { inbox, reviews, answers } = requests;
  const { selected, checked } = inbox;
  const { announce, complain } = shared.announcer;
  const confirmation = createConfirmation({ now: () => performance.now() });
  const decisions = createDecisions({ api, onDecided: inbox.remove, onBeaten: inbox.settle });
  const decider = createDecider({ confirmation, decisions, reviews, selected, checked });
  const pressed = followed(confirmation.armed, confirmation);
  /** Why a key has done nothing to the selected question. */
  const hint = signal("");
  /** Which dialog is open over the inbox. */
  const dialog = signal<"none" | "deny" | "edit">("none");

  const disarm = () => {
    confirmation.disarm();
    hint.value = "";
  };
  // A first press is about what was selected then, in the card or in the dialog.
  computed(() => requests.selected.value?.approval.id).subscribe(disarm);
  dialog.subscribe(disarm);

  function tell(result: DeciderResult): void {
    if (result.kind === "too_soon") return;
    hint.value = "";
    if (result.kind === "armed") announce(`Press again to allow: it ${result.reasons.join("; ")}`);
    else dialog.value = "none";
    if (result.kind !== "sent") return;
    complain("");
    for (const sent of result.decisions) tellOf(sent);
  }

  function tellOf({ approval, decision, result }: SentDecision): void {
    const call = `${visibleText(approval.tool_name)} of ${approval.session_name}`;
    if (result.kind === "decided") announce(`${decision.approve ? "Allowed" : "Denied"} ${call}`);
    if (result.kind === "beaten") announce(`${result.outcome.by} was faster: ${result.outcome.status}`);
    if (result.kind !== "failed") return;
    onRefused(result.reason);
    complain(`${call} was not decided: ${result.reason.message}`);
  }

  const allow = async () => tell(await decider.allow());

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
    isDeciding: followed(decider.isSending, decider),
    dialog,
    targets: decider.targets,
    disarm,
    isOurs: decisions.isOurs,

    /** Allows at once; what is dangerous, or many, only when pressed twice. */
    allow,
    /** Allows the selected one with the input as it was edited, by the same rule. */
    allowEdited: async (input: JsonObject) => tell(await decider.allowEdited(input)),

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
      if (!question) return;
      const { approval, questions, choices } = question;
      const input = answered(approval.input, questions, choices);
      if (input) return tell(await decider.answer(approval, input));
      answers.keep(approval.id, nextOpen(questions, choices));
      explain("Choose an answer to every question first.");
    },

    async deny(chosen: Approval[], message: string, interrupt: boolean): Promise<void> {
      const denial = { ...(message !== "" && { message }), ...(interrupt && { interrupt: true }) };
      tell(await decider.deny(chosen, denial));
    },
  };
}
