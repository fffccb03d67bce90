import type { Answers } from "../../client/deciding/answers.ts";
import type { Confirmation } from "../../client/deciding/confirmation.ts";
import type { Decider, DeciderResult } from "../../client/deciding/decider.ts";
import { NO_SUGGESTION, type RememberState } from "../../client/deciding/remember.ts";
import type { Review } from "../../client/deciding/reviews.ts";
import type { InboxItem } from "../../client/inbox.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import type { JsonObject } from "../../contract/values.ts";
import { answered, choose, hasChoices, nextOpen } from "../../review/choices.ts";
import { kindOf, type Question } from "../../review/kinds.ts";
import { ENTER, ESCAPE, editedLine } from "../terminal/keys.ts";
import { type Line, span } from "../terminal/lines.ts";
import type { Style } from "../terminal/terminal.ts";
import type { Drafts } from "./drafts.ts";
import { createRememberKeys } from "./remember-keys.ts";
import { OUTSIDE_GRANT } from "./remember-lines.ts";
import { wordsFor } from "./result-words.ts";

const REASON = "Reason (shown to the agent), Enter denies: ";
const [PASTE_BEGINS, PASTE_ENDS] = ["\u001b[200~", "\u001b[201~"];
const DIGITS = Array.from("123456789");
const UNREAD = "Its whole input can't be read now: try again.";

type Questions = { questions: Question[]; input: JsonObject };

type RequestKeysNeed = {
  /** The request that the keys act on. */
  current: () => InboxItem | undefined;
  /** The request as made, or as the person edited it. */
  review: (item: InboxItem) => Promise<Review>;
  decider: Decider;
  confirmation: Confirmation;
  drafts: Drafts;
  answers: Answers;
  remembering: RememberState;
  /** The rule that could remember the request with this input. */
  offered: (approval: Approval, input: JsonObject) => Promise<Approval>;
  edit: (item: InboxItem) => Promise<void>;
  remembered: (rule: Rule) => void;
  say: (text: string, style?: Style) => void;
  note: (text: string) => void;
  fail: (cause: unknown) => void;
};

/** The keys for the selected request, in `watch` and in `run`: allow (with a rule or without), deny, edit, answer. */
export function createRequestKeys(need: RequestKeysNeed) {
  const { current, review, decider, confirmation, drafts, answers, remembering, offered, edit, say, note, fail } = need;
  let writing: { item: InboxItem; text: string } | undefined;
  let isPasting = false;
  const ruleKeys = createRememberKeys({ ...need, tell });

  /** Acts on the selected request if it is still pending. */
  const onPending = (act: (item: InboxItem) => void | Promise<void>) => () => {
    const item = current();
    if (item && !item.outcome) Promise.resolve(act(item)).catch(fail);
  };
  /** Acts on a question once its whole text is loaded. */
  const onQuestion = (act: (item: InboxItem, questions: Questions) => void | Promise<void>) =>
    onPending(async (item) => {
      const { approval, context } = await review(item);
      const kind = kindOf(approval);
      if (kind.kind !== "questions") return;
      if (!context) return say(UNREAD, "yellow");
      await act(item, { questions: kind.questions, input: approval.input });
    });
  const keys: Record<string, () => void> = {
    a: onPending(async ({ approval: { id } }) => {
      if (hasChoices(answers.of(id))) return say("Enter sends your answers, Esc drops them.", "yellow");
      const edited = drafts.inputFor(id);
      tell(await (edited ? decider.allowEdited(edited) : decider.allow()));
    }),
    A: onPending(async (item) => {
      const reviewed = await review(item);
      if (!reviewed.context) return say(UNREAD, "yellow");
      const input = drafts.inputFor(item.approval.id);
      // Whether the grant covers an edited input is only checked when it is sent.
      if (reviewed.approval.escalates && !input) return say(`It is ${OUTSIDE_GRANT}.`, "yellow");
      const approval = input ? await offered(reviewed.approval, input) : reviewed.approval;
      if (approval.no_rule !== undefined) return say(`It can't be remembered: ${approval.no_rule}.`, "yellow");
      // Someone may have decided the request while it was loading.
      if (current()?.approval.id !== approval.id || current()?.outcome) return;
      if (approval.suggested_rule === undefined) note(NO_SUGGESTION);
      ruleKeys.begins();
      remembering.begin(approval, "allow", input);
    }),
    d: onPending((item) => {
      writing = { item, text: "" };
    }),
    e: onPending(async (item) => {
      if ((await review(item)).context) await edit(item);
      else say(UNREAD, "yellow");
    }),
    [ESCAPE]: onPending(({ approval }) => {
      drafts.drop(approval.id);
      answers.drop(approval.id);
      say("");
    }),
    ...Object.fromEntries(DIGITS.map((digit, option) => [digit, onQuestion(chooses(option))])),
    ...Object.fromEntries(ENTER.map((key) => [key, onQuestion(sendAnswers)])),
  };

  function tell(result: DeciderResult): void {
    for (const { text, style } of wordsFor(result)) say(text, style);
  }

  function chooses(option: number) {
    return ({ approval: { id } }: InboxItem, { questions }: Questions) => {
      const now = answers.of(id);
      answers.keep(id, choose(questions, now, now.at, option));
      say("");
    };
  }

  async function sendAnswers(item: InboxItem, { questions, input }: Questions): Promise<void> {
    const { id } = item.approval;
    const chosen = answers.of(id);
    const withAnswers = answered(input, questions, chosen);
    if (withAnswers) return tell(await decider.answer(item.approval, withAnswers));
    answers.keep(id, nextOpen(questions, chosen));
    say("Choose an answer with 1-9 first; a skips the question, d denies it.", "yellow");
  }

  function write(key: string, { item, text }: { item: InboxItem; text: string }): void {
    const isEnter = ENTER.includes(key);
    if (isEnter && !isPasting) {
      writing = undefined;
      void decider
        .deny([item.approval], { message: text.trim() || undefined })
        .then(tell)
        .catch(fail);
      return;
    }
    const next = editedLine(text, isEnter ? " " : key);
    writing = next === undefined ? undefined : { item, text: next };
  }

  return {
    /** Whether the key was text: of a reason or a rule, or pasted text, which was meant for another window. */
    takeText(key: string): boolean {
      if (key === PASTE_BEGINS || key === PASTE_ENDS) isPasting = key === PASTE_BEGINS;
      else if (writing) write(key, writing);
      else return ruleKeys.take(key, isPasting) || isPasting;
      return true;
    },
    /** Whether the key is one of these. */
    take(key: string): boolean {
      if (key !== "a") confirmation.disarm();
      keys[key]?.();
      return key in keys;
    },
    /** The reason as typed so far; the end of a long one. */
    reasonLine(columns: number): Line | undefined {
      if (!writing) return undefined;
      const room = Math.max(8, columns - REASON.length - 1);
      return [{ text: REASON, style: "bold" }, span(Array.from(writing.text).slice(-room).join("")), { text: "█" }];
    },
    /** The rule as edited so far, and what is known about it. */
    ruleLines: ruleKeys.lines,
    ruleLine: ruleKeys.line,
    /** The request is decided: drops any reason or rule in progress. */
    ended(id: string): void {
      remembering.ended(id);
      if (writing?.item.approval.id === id) writing = undefined;
    },
  };
}
