import { computed, signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { createConfirmation } from "../../client/deciding/confirmation.ts";
import { createDecider, type DeciderResult, type SentDecision } from "../../client/deciding/decider.ts";
import { createDecisions } from "../../client/deciding/decisions.ts";
import { createRemembering, offeredFor, rememberOf } from "../../client/deciding/remember.ts";
import { isOpen } from "../../client/inbox.ts";
import { callWords } from "../../client/words/words.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import type { JsonObject } from "../../contract/values.ts";
import { answered, hasChoices, nextOpen } from "../../review/choices.ts";
import { visibleText } from "../shared/elements/visible.tsx";
import { followed } from "../shared/followed.ts";
import type { SharedParts } from "../shared/parts.ts";
import { linkTo } from "../shared/route.ts";
import { createHolding } from "./held/holding.ts";
import type { Requests } from "./requests.ts";

export type Deciding = ReturnType<typeof createDeciding>;

function notRemembered(why: string): string {
  return `It can't be remembered: ${visibleText(why)}.`;
}

export const OUTSIDE_GRANT = "This is outside your grant: the operator has to allow it. You may deny it.";

type DecidingNeed = {
  api: Api;
  requests: Requests;
  shared: Pick<SharedParts, "announcer" | "now">;
  onRefused: (cause: unknown) => boolean;
  signal: AbortSignal;
};

/** The decider as the page shows it, and what it says of each result. */
export function createDeciding({ api, requests, shared, onRefused, signal: whileSignedIn }: DecidingNeed) {
  const { inbox, reviews, answers } = requests;
  const { selectedNow: selected, checkedNow: checked } = requests;
  const { announce, complain, note } = shared.announcer;
  const confirmation = createConfirmation({ now: () => performance.now() });
  const decisions = createDecisions({ api, onDecided: inbox.remove, onBeaten: inbox.settle });
  const decider = createDecider({ confirmation, decisions, reviews, selected, checked });
  const remembering = createRemembering({ api });
  const holding = createHolding({
    decider,
    confirmation,
    requests,
    announcer: shared.announcer,
    onSent: tellOfHeld,
    signal: whileSignedIn,
  });
  const pressed = followed(confirmation.armed, confirmation);
  /** Why a key has done nothing to the selected question. */
  const hint = signal("");
  /** Which dialog is open over the inbox. */
  const dialog = signal<"none" | "deny" | "edit" | "remember">("none");

  const disarm = () => {
    confirmation.disarm();
    hint.value = "";
  };
  requests.onAdvanced(confirmation.hesitate);
  // A first press is about what was selected then, in the card or in the dialog.
  computed(() => requests.selected.value?.approval.id).subscribe(disarm);
  dialog.subscribe((open) => {
    disarm();
    if (open === "none") remembering.leave();
  });

  function tell(result: DeciderResult): void {
    if (result.kind === "too_soon") return;
    hint.value = "";
    if (result.kind === "armed") announce(`Press again to allow: it ${result.reasons.join("; ")}`);
    else dialog.value = "none";
    if (result.kind !== "sent") return;
    complain("");
    for (const sent of result.decisions) tellOf(sent);
    noteDone(result.decisions.filter(({ result }) => result.kind === "decided"));
  }

  /** Shows what was done, with the way to it; what became a rule has said so. */
  function noteDone(done: SentDecision[]): void {
    const [first] = done;
    if (!first || (first.result.kind === "decided" && first.result.rule)) return;
    const verb = first.decision.approve ? "Allowed" : "Denied";
    const link =
      done.length > 1
        ? { to: linkTo.history, name: "History" }
        : { to: linkTo.decision(first.approval.id), name: "See it" };
    note({ text: `${verb} ${callWords(done.map(({ approval }) => approval))}`, link });
  }

  /** The person looks at something else by now: what is open there stays as it is. */
  function tellOfHeld(sent: SentDecision[]): void {
    for (const one of sent) tellOf(one);
    noteDone(sent.filter(({ result }) => result.kind === "decided"));
    holding.noteEnded(
      sent.flatMap(({ approval, result }) => (result.kind === "beaten" ? [{ approval, outcome: result.outcome }] : [])),
    );
  }

  function tellOf({ approval, decision, result }: SentDecision): void {
    const call = callWords([approval]);
    if (result.kind === "decided") {
      announce(`${decision.approve ? "Allowed" : "Denied"} ${call}`);
      if (result.rule) tellOfRule(result.rule, call);
    }
    if (result.kind === "beaten") announce(`${result.outcome.by} was faster: ${result.outcome.status}`);
    if (result.kind !== "failed") return;
    onRefused(result.reason);
    complain(`${call} was not decided: ${result.reason.message}`);
  }

  function tellOfRule({ id, decision, match }: Rule, call: string): void {
    const done = decision === "allow" ? "Allowed" : "Denied";
    const text = `${done} ${call}. From now on: ${decision} ${visibleText(match)}.`;
    announce(text);
    note({ text, link: { to: linkTo.rule(id), name: "See the rule" } });
  }

  /** What the server refuses of a rule is told where the rule stands; its dialog stays open. */
  function tellOrRefusal(result: DeciderResult): string | undefined {
    const [first] = result.kind === "sent" ? result.decisions : [];
    if (first?.result.kind !== "failed") {
      tell(result);
      return undefined;
    }
    onRefused(first.result.reason);
    return first.result.reason.message;
  }

  const allow = async () => tell(await decider.allow());

  function canRemember(): boolean {
    return isOpen(selected()) && checked().length === 0 && !requests.question.peek();
  }

  /** Whether the selected one can be allowed with another input; a question is answered instead, so that no answer is lost. */
  function canEdit(): boolean {
    return isOpen(selected()) && checked().length === 0 && !requests.question.peek();
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
    isDeciding: followed(decider.isSending, decider),
    dialog,
    canEdit,
    targets: decider.targets,
    disarm,
    isOurs: decisions.isOurs,
    holding,

    /** Allows at once; what is dangerous, or many, only when pressed twice. */
    allow,
    /** Allows the selected one with the input as it was edited, and makes the rule that is being written; resolves with what the server refuses of that. */
    async allowEdited(input: JsonObject): Promise<string | undefined> {
      const rule = remembering.current();
      const remember = rule && rememberOf(rule);
      if (remember) return tellOrRefusal(await decider.allowAndRemember(remember, input));
      tell(await decider.allowEdited(input));
      return undefined;
    },

    /** By the key that allows: a question that somebody has begun to answer is not let go without the answers. */
    async allowByKey(): Promise<void> {
      if (checked().length === 0 && requests.review.peek()?.approval.escalates) return explain(OUTSIDE_GRANT);
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

    remembering,
    /** The rule that is about to be made of a decision. */
    rule: followed(remembering.current, remembering),
    /** Whether a rule can be made of the decision on what is selected: one request at a time, and no question. */
    canRemember,
    /** Opens the dialog for it. */
    async openRemember(): Promise<void> {
      const item = selected();
      if (!item || !canRemember()) return;
      // What is suggested is read with all of it.
      const { approval } = await reviews.review(item.approval);
      if (selected()?.approval.id !== approval.id || !canRemember() || dialog.peek() !== "none") return;
      if (approval.escalates) return explain(OUTSIDE_GRANT);
      if (approval.no_rule !== undefined) return explain(notRemembered(approval.no_rule));
      remembering.begin(approval);
      dialog.value = "remember";
    },
    /** Begins a rule of what runs once it is edited, if it is still wanted then; resolves with why there can be none. */
    async rememberEdited(input: JsonObject, isWanted: () => boolean): Promise<string | undefined> {
      const item = selected();
      if (!item) return undefined;
      const { approval } = await reviews.review(item.approval);
      const offered = await offeredFor(approval, input, api);
      if (offered.no_rule !== undefined) return notRemembered(offered.no_rule);
      const isCurrent = selected()?.approval.id === offered.id && dialog.peek() === "edit";
      if (isCurrent && isWanted()) remembering.begin(offered, "allow", input);
      return undefined;
    },
    /** Allows this request and such calls from now on; resolves with what the server refuses. */
    async allowRemembered(): Promise<string | undefined> {
      const rule = remembering.current();
      const remember = rule && rememberOf(rule);
      const isSelected = rule?.approval.id === selected()?.approval.id;
      // The dialog was about another request.
      if (!isSelected) dialog.value = "none";
      return remember && isSelected ? tellOrRefusal(await decider.allowAndRemember(remember)) : undefined;
    },

    /** Held for a moment; with the rule that is being written, if there is one, at once: resolves with what the server refuses of that. */
    async deny(chosen: Approval[], message: string, interrupt: boolean): Promise<string | undefined> {
      const rule = remembering.current();
      const remember = rule && rememberOf(rule);
      const denial = { ...(message !== "" && { message }), ...(interrupt && { interrupt: true }) };
      if (remember) return tellOrRefusal(await decider.deny(chosen, { ...denial, remember }));
      const urgent = holding.hold(chosen, denial);
      if (urgent.length < chosen.length) dialog.value = "none";
      if (urgent.length > 0) tell(await decider.deny(urgent, denial));
      return undefined;
    },
  };
}
