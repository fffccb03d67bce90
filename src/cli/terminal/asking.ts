import type { Config } from "../../config.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import { answerTo } from "../../review/choices.ts";
import { kindOf } from "../../review/kinds.ts";
import { howToDecide } from "../commands/approvals/decision.ts";
import type { Server } from "../server/server-client.ts";
import { askLines } from "../watch/ask-lines.ts";
import { createChoosing } from "../watch/choosing.ts";
import { createDeciding } from "../watch/deciding.ts";
import { createDrafts } from "../watch/drafts.ts";
import { createExamining, type Examined } from "../watch/examining.ts";
import { decidingHelp } from "../watch/help-lines.ts";
import type { Ask } from "../watch/inbox.ts";
import { fitted, type Line, line, painted, span } from "../watch/lines.ts";
import { withDraft } from "../watch/looking.ts";
import { createReview } from "../watch/review.ts";
import type { Keyboard } from "./keyboard.ts";
import { CTRL_C, keysIn } from "./keys.ts";
import type { Screen } from "./screen.ts";
import type { Style, Terminal } from "./terminal.ts";

const QUESTION = "Allow it? [a]llow  [d]eny  [e]dit  [s]kip  [?] ";
const ANSWER = "[1-9] choose  [Enter] answer  [a] without  [d]eny  [s]kip  [?] ";
/** What is pasted is marked as such, so that it can't be taken for keys. */
const [MARK_PASTES, MARK_NO_PASTES] = ["\u001b[?2004h", "\u001b[?2004l"];

type AskingNeed = {
  config: Config;
  find: () => Server;
  keyboard: Keyboard;
  screen: Screen;
  terminal: Terminal;
  onInterrupt: () => void;
  /** Told of a bug, which ends the command. */
  fail: (cause: unknown) => void;
};

/** Whoever watches a turn is asked about what its child asks, one after the other, with the view and the keys of `watch`. */
export function createAsking({ config, find, keyboard, screen, terminal, onInterrupt, fail }: AskingNeed) {
  const waiting = new Map<string, Ask>();
  let current: Ask | undefined;
  let message: Line = [];
  let reading: Disposable | undefined;
  /** The terminal is the editor's meanwhile. */
  let isAway = false;

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    show();
  };
  const examining = createExamining(find, () => {});
  const [drafts, choosing] = [createDrafts(config), createChoosing()];
  const examine = async ({ approval }: Ask): Promise<Examined> => withDraft(await examining.examine(approval), drafts);
  const deciding = createDeciding({
    find,
    isCurrent: (id) => current?.approval.id === id,
    onDecided: leave,
    onBeaten: leave,
    say,
    examine,
  });
  const review = createReview({ current: () => current, examine, deciding, drafts, choosing, edit, say, fail });

  /** Shows the next one in full, then asks about it. */
  async function next(): Promise<void> {
    const [ask] = waiting.values();
    if (current || isAway || !ask) return;
    current = ask;
    await print(ask);
    if (current !== ask) return;
    message = [];
    listen();
  }

  async function print(ask: Ask): Promise<void> {
    const examined = await examine(ask);
    if (current !== ask) return;
    write(askLines(examined, terminal.columns, choosing.of(ask.approval.id)));
  }

  function write(lines: Line[]): void {
    screen.write(lines.map((one) => `${painted(one, terminal)}\n`).join(""));
  }

  function listen(): void {
    terminal.out(MARK_PASTES);
    // Nobody has decided on what they had not seen yet.
    deciding.hesitate();
    reading ??= keyboard.read((typed) => {
      for (const key of keysIn(typed)) take(key);
      show();
    });
    show();
  }

  function stopListening(): void {
    if (!reading) return;
    reading[Symbol.dispose]();
    reading = undefined;
    terminal.out(MARK_NO_PASTES);
    screen.ask(undefined);
  }

  function take(key: string): void {
    if (!current) return;
    if (key === CTRL_C) onInterrupt();
    else if (!review.takeText(key)) {
      message = [];
      if (review.take(key)) return;
      if (key === "s") skip(current.approval);
      if (key === "?") write(decidingHelp(terminal.columns));
    }
  }

  function skip({ id }: Approval): void {
    screen.note(howToDecide("It", id));
    leave(id);
  }

  /** This one is over, or somebody else's. */
  function leave(id: string): void {
    waiting.delete(id);
    review.beaten(id);
    if (current?.approval.id !== id) return;
    current = undefined;
    stopListening();
    next().catch(fail);
  }

  async function edit(ask: Ask): Promise<void> {
    const whole = (await examining.examine(ask.approval)).approval;
    stopListening();
    isAway = true;
    const { text, style } = await screen.away(() => drafts.edit(whole));
    isAway = false;
    // Somebody else may have decided it meanwhile.
    if (current !== ask) return next();
    await print(ask);
    if (current !== ask) return;
    message = line(text, style);
    listen();
  }

  function show(): void {
    if (!reading || !current) return;
    const said = message.some(({ text }) => text !== "") ? message : prompt(current);
    const row = review.reasonLine(terminal.columns - 1) ?? said;
    screen.ask(painted(fitted(row, terminal.columns - 1), terminal));
  }

  /** What can be pressed, and what is chosen so far. */
  function prompt({ approval }: Ask): Line {
    const known = examining.known(approval.id);
    const kind = kindOf(known?.approval ?? approval);
    if (kind.kind !== "questions") return [{ text: QUESTION, style: "bold" }];
    const choices = choosing.of(approval.id);
    const chosen = kind.questions.map((question, at) => answerTo(question, choices, at) || "?").join(" / ");
    const place = kind.questions.length > 1 ? `${choices.at + 1}/${kind.questions.length} ` : "";
    return [{ text: `${place}${ANSWER}`, style: "bold" }, span(chosen)];
  }

  return {
    asked(approval: Approval): void {
      waiting.set(approval.id, { approval });
      next().catch(fail);
    },
    resolved: leave,
    [Symbol.dispose]() {
      waiting.clear();
      current = undefined;
      stopListening();
    },
  };
}
