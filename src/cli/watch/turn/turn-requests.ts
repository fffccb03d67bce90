import type { Api } from "../../../client/api.ts";
import type { InboxItem } from "../../../client/inbox.ts";
import { shortId } from "../../../client/words/short-id.ts";
import type { Config } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { answerTo } from "../../../review/choices.ts";
import { kindOf } from "../../../review/kinds.ts";
import { howToDecide } from "../../commands/approvals/decision.ts";
import type { Keyboard } from "../../terminal/keyboard.ts";
import { CTRL_C, keysIn } from "../../terminal/keys.ts";
import { fitted, type Line, line, painted, span } from "../../terminal/lines.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { Style, Terminal } from "../../terminal/terminal.ts";
import { decidingHelp } from "../help-lines.ts";
import { ONE_LINE_HELP } from "../remember-lines.ts";
import { createRequestControls } from "../request-controls.ts";
import { requestLines } from "../request-lines.ts";

const QUESTION = "Allow it? [a]llow  [A]nd remember  [d]eny  [e]dit  [s]kip  [?] ";
const QUESTION_WITHOUT_RULE = QUESTION.replace("[A]nd remember  ", "");
const ANSWER = "[1-9] choose  [Enter] answer  [a] without  [d]eny  [s]kip  [?] ";
/** Bracketed paste marks pasted text, so that it is not taken for keys. */
const [MARK_PASTES, MARK_NO_PASTES] = ["\u001b[?2004h", "\u001b[?2004l"];

type TurnRequestsNeed = {
  config: Config;
  api: Api;
  keyboard: Keyboard;
  screen: Screen;
  terminal: Terminal;
  onInterrupt: () => void;
  /** Called with an unexpected error, which ends the command. */
  fail: (cause: unknown) => void;
};

/** Lets the person who watches a turn decide its requests one by one, with the view and the keys of `watch`. */
export function createTurnRequests({ config, api, keyboard, screen, terminal, onInterrupt, fail }: TurnRequestsNeed) {
  const waiting = new Map<string, InboxItem>();
  let current: InboxItem | undefined;
  let message: Line = [];
  let keyReader: Disposable | undefined;
  /** The editor has the terminal. */
  let isAway = false;

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    show();
  };
  const { reviews, drafts, answers, remembering, review, confirmation, keys } = createRequestControls({
    config,
    api,
    current: () => current,
    onDecided: leave,
    onBeaten: leave,
    edit,
    say,
    note: (text) => screen.note(text),
    fail,
  });
  let isRuling = false;
  remembering.onChange(() => {
    const wasRuling = isRuling;
    isRuling = remembering.current() !== undefined;
    if (isRuling && !wasRuling) screen.note(ONE_LINE_HELP);
    show();
  });

  /** Shows the next request in full, then asks about it. */
  async function next(): Promise<void> {
    const [item] = waiting.values();
    if (current || isAway || !item) return;
    current = item;
    await print(item);
    if (current !== item) return;
    message = [];
    listen();
  }

  async function print(item: InboxItem): Promise<void> {
    const reviewed = await review(item);
    if (current !== item) return;
    write(requestLines(reviewed, terminal.columns, answers.of(item.approval.id)));
  }

  function write(lines: Line[]): void {
    screen.write(lines.map((one) => `${painted(one, terminal)}\n`).join(""));
  }

  function listen(): void {
    terminal.out(MARK_PASTES);
    // Ignore presses for a moment: the person had not seen the request when typing them.
    confirmation.hesitate();
    keyReader ??= keyboard.read((typed) => {
      for (const key of keysIn(typed)) take(key);
      show();
    });
    show();
  }

  function stopListening(): void {
    if (!keyReader) return;
    keyReader[Symbol.dispose]();
    keyReader = undefined;
    terminal.out(MARK_NO_PASTES);
    screen.ask(undefined);
  }

  function take(key: string): void {
    if (!current) return;
    if (key === CTRL_C) onInterrupt();
    else if (!keys.takeText(key)) {
      message = [];
      if (keys.take(key)) return;
      if (key === "s") skip(current.approval);
      if (key === "?") write(decidingHelp(terminal.columns));
    }
  }

  function skip({ id }: Approval): void {
    screen.note(howToDecide("It", shortId(id)));
    leave(id);
  }

  /** The request is decided, here or elsewhere. */
  function leave(id: string): void {
    waiting.delete(id);
    keys.ended(id);
    if (current?.approval.id !== id) return;
    current = undefined;
    stopListening();
    next().catch(fail);
  }

  async function edit(item: InboxItem): Promise<void> {
    const whole = (await reviews.review(item.approval)).approval;
    stopListening();
    isAway = true;
    const { text, style } = await screen.away(() => drafts.edit(whole));
    isAway = false;
    // Someone else may have decided it meanwhile.
    if (current !== item) return next();
    await print(item);
    if (current !== item) return;
    message = line(text, style);
    listen();
  }

  function show(): void {
    if (!keyReader || !current) return;
    const said = message.some(({ text }) => text !== "") ? message : prompt(current);
    const columns = terminal.columns - 1;
    const row = keys.ruleLine(columns) ?? keys.reasonLine(columns) ?? said;
    screen.ask(painted(fitted(row, columns), terminal));
  }

  /** The keys, and the options chosen so far. */
  function prompt({ approval }: InboxItem): Line {
    const known = reviews.known(approval.id);
    const kind = kindOf(known?.approval ?? approval);
    const isRuled = known?.approval.no_rule === undefined || drafts.inputFor(approval.id) !== undefined;
    if (kind.kind !== "questions") return [{ text: isRuled ? QUESTION : QUESTION_WITHOUT_RULE, style: "bold" }];
    const choices = answers.of(approval.id);
    const chosen = kind.questions.map((question, at) => answerTo(question, choices, at) || "?").join(" / ");
    const place = kind.questions.length > 1 ? `${choices.at + 1}/${kind.questions.length} ` : "";
    return [{ text: `${place}${ANSWER}`, style: "bold" }, span(chosen)];
  }

  return {
    requested(approval: Approval): void {
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
