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

/** Connects the decider to the page, and reports each result. */
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
  /** Why a key had no effect on the selected question. */
  const hint = signal("");
  /** The dialog that is open over the inbox. */
  const dialog = signal<"none" | "deny" | "edit" | "remember">("none");

  const disarm = () => {
    confirmation.disarm();
    hint.value = "";
  };
  requests.onAdvanced(confirmation.hesitate);
  // A first press counts only for the request that was selected then, in the card or in the dialog.
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

  /** Shows what was done, with a link to it. A created rule has its own note. */
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

  /** Reports held denials once they are sent. The person looks at something else by now, so open dialogs stay open. */
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

  /** Shows a refused rule in its dialog, which stays open, and reports any other result. */
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

  /** Whether the selected request can be edited. Questions can't, because answers would get lost. */
  function canEdit(): boolean {
    return isOpen(selected()) && checked().length === 0 && !requests.question.peek();
  }

  function explain(text: string): void {
    hint.value = text;
    announce(text);
  }

  return {
    /** The decision that waits for a second press, with the reason; `undefined` once its time is up. */
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

    /** Allows immediately. Dangerous requests, or many at once, need a second press. */
    allow,
    /**
     * Allows the selected request with the edited input, and creates the rule in progress. Resolves with the server's
     * refusal of the rule, if any.
     */
    async allowEdited(input: JsonObject): Promise<string | undefined> {
      const rule = remembering.current();
      const remember = rule && rememberOf(rule);
      if (remember) return tellOrRefusal(await decider.allowAndRemember(remember, input));
      tell(await decider.allowEdited(input));
      return undefined;
    },

    /** Allows by key. A question with chosen answers is not allowed without them. */
    async allowByKey(): Promise<void> {
      if (checked().length === 0 && requests.review.peek()?.approval.escalates) return explain(OUTSIDE_GRANT);
      const question = requests.question.peek();
      if (question && hasChoices(question.choices))
        explain("You have chosen answers: press Enter to send them, or Skip to leave them out.");
      else await allow();
    },

    /** Sends the chosen answers once every question has one. */
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
    /** The rule that a decision is about to create. */
    rule: followed(remembering.current, remembering),
    /** Whether the decision can create a rule: only for a single request that is not a question. */
    canRemember,
    /** Opens the dialog for a rule. */
    async openRemember(): Promise<void> {
      const item = selected();
      if (!item || !canRemember()) return;
      // The suggestion comes with the full request.
      const { approval } = await reviews.review(item.approval);
      if (selected()?.approval.id !== approval.id || !canRemember() || dialog.peek() !== "none") return;
      if (approval.escalates) return explain(OUTSIDE_GRANT);
      if (approval.no_rule !== undefined) return explain(notRemembered(approval.no_rule));
      remembering.begin(approval);
      dialog.value = "remember";
    },
    /**
     * Starts a rule for the edited input, if it is still wanted after loading. Resolves with the reason if there can be
     * none.
     */
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
    /** Allows this request, and similar calls from now on. Resolves with the server's refusal, if any. */
    async allowRemembered(): Promise<string | undefined> {
      const rule = remembering.current();
      const remember = rule && rememberOf(rule);
      const isSelected = rule?.approval.id === selected()?.approval.id;
      // The dialog was about another request.
      if (!isSelected) dialog.value = "none";
      return remember && isSelected ? tellOrRefusal(await decider.allowAndRemember(remember)) : undefined;
    },

    /**
     * Holds the denial for a moment. With a rule in progress, sends it immediately and resolves with the server's
     * refusal, if any.
     */
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
