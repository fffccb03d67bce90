import type { JsonObject } from "../../contract/values.ts";
import { answered, choose, hasChoices, nextOpen } from "../../review/choices.ts";
import { kindOf, type Question } from "../../review/kinds.ts";
import { ENTER, ESCAPE, editedLine } from "../terminal/keys.ts";
import type { Style } from "../terminal/terminal.ts";
import type { Choosing } from "./choosing.ts";
import type { Deciding } from "./deciding.ts";
import type { Drafts } from "./drafts.ts";
import type { Examined } from "./examining.ts";
import type { Ask } from "./inbox.ts";
import { type Line, span } from "./lines.ts";

const WHY = "Why not? (Enter denies, Esc goes back) ";
const [PASTE_BEGINS, PASTE_ENDS] = ["\u001b[200~", "\u001b[201~"];
const DIGITS = Array.from("123456789");
const UNREAD = "Its whole input can't be read now: try again.";

type Questions = { questions: Question[]; input: JsonObject };

type ReviewNeed = {
  /** What the keys are about. */
  current: () => Ask | undefined;
  /** As it was asked, or as the person has edited it. */
  examine: (ask: Ask) => Promise<Examined>;
  deciding: Deciding;
  drafts: Drafts;
  choosing: Choosing;
  edit: (ask: Ask) => Promise<void>;
  say: (text: string, style?: Style) => void;
  fail: (cause: unknown) => void;
};

/** What the keys do to the ask that is looked at, wherever that is: allow, deny with a reason, edit, answer. */
export function createReview({ current, examine, deciding, drafts, choosing, edit, say, fail }: ReviewNeed) {
  let writing: { ask: Ask; text: string } | undefined;
  let isPasting = false;

  /** With the ask that is looked at, if it still waits. */
  const onOpenAsk = (act: (ask: Ask) => void | Promise<void>) => () => {
    const ask = current();
    if (ask && !ask.outcome) Promise.resolve(act(ask)).catch(fail);
  };
  /** With a question, and all of it. */
  const onQuestion = (act: (ask: Ask, questions: Questions) => void | Promise<void>) =>
    onOpenAsk(async (ask) => {
      const examined = await examine(ask);
      const kind = kindOf(examined.approval);
      if (kind.kind !== "questions") return;
      if (!examined.context) return say(UNREAD, "yellow");
      await act(ask, { questions: kind.questions, input: examined.approval.input });
    });
  const keys: Record<string, () => void> = {
    a: onOpenAsk(async (ask) => {
      const { id } = ask.approval;
      if (hasChoices(choosing.of(id))) return say("Enter sends your answers, Esc drops them.", "yellow");
      await deciding.allow(ask, drafts.inputFor(id));
    }),
    d: onOpenAsk((ask) => {
      writing = { ask, text: "" };
    }),
    e: onOpenAsk(async (ask) => {
      if ((await examine(ask)).context) await edit(ask);
      else say(UNREAD, "yellow");
    }),
    [ESCAPE]: onOpenAsk(({ approval }) => {
      drafts.drop(approval.id);
      choosing.drop(approval.id);
      say("");
    }),
    ...Object.fromEntries(DIGITS.map((digit, option) => [digit, onQuestion(chooses(option))])),
    ...Object.fromEntries(ENTER.map((key) => [key, onQuestion(answers)])),
  };

  function chooses(option: number) {
    return ({ approval: { id } }: Ask, { questions }: Questions) => {
      const now = choosing.of(id);
      choosing.keep(id, choose(questions, now, now.at, option));
      say("");
    };
  }

  async function answers(ask: Ask, { questions, input }: Questions): Promise<void> {
    const { id } = ask.approval;
    const chosen = choosing.of(id);
    const withAnswers = answered(input, questions, chosen);
    if (withAnswers) return deciding.answer(ask, withAnswers);
    choosing.keep(id, nextOpen(questions, chosen));
    say("Choose an answer with 1-9 first; a skips the question, d denies it.", "yellow");
  }

  function write(key: string, { ask, text }: { ask: Ask; text: string }): void {
    const isEnter = ENTER.includes(key);
    if (isEnter && !isPasting) {
      writing = undefined;
      void deciding.deny(ask, text.trim()).catch(fail);
      return;
    }
    const next = editedLine(text, isEnter ? " " : key);
    writing = next === undefined ? undefined : { ask, text: next };
  }

  return {
    /** Whether the key was text: of a reason, or pasted, which was meant for another window. */
    takeText(key: string): boolean {
      if (key === PASTE_BEGINS || key === PASTE_ENDS) isPasting = key === PASTE_BEGINS;
      else if (writing) write(key, writing);
      else return isPasting;
      return true;
    },
    /** Whether the key was one of these. */
    take(key: string): boolean {
      if (key !== "a") deciding.disarm();
      keys[key]?.();
      return key in keys;
    },
    /** The reason that is being written, its end where it is long. */
    reasonLine(columns: number): Line | undefined {
      if (!writing) return undefined;
      const room = Math.max(8, columns - WHY.length - 1);
      return [{ text: WHY, style: "bold" }, span(Array.from(writing.text).slice(-room).join("")), { text: "█" }];
    },
    /** Somebody else has decided this one. */
    beaten(id: string): void {
      if (writing?.ask.approval.id === id) writing = undefined;
    },
  };
}
