import type { Config } from "../../config.ts";
import type { ChangeEvent } from "../../schema/change.ts";
import type { Keyboard } from "../keyboard.ts";
import { CTRL_C, ENTER, ESCAPE, editedLine, keysIn } from "../keys.ts";
import type { Server } from "../server-client.ts";
import type { Style } from "../terminal.ts";
import { createDeciding } from "./deciding.ts";
import { createDrafts } from "./drafts.ts";
import { createExamining } from "./examining.ts";
import { frameOf, layoutOf } from "./frame.ts";
import type { FullScreen, Size } from "./full-screen.ts";
import { helpLines } from "./help-lines.ts";
import type { Ask, Inbox } from "./inbox.ts";
import { type Line, line, span } from "./lines.ts";
import { createLooking, outcomeLine } from "./looking.ts";

type DeskNeed = {
  config: Config;
  find: () => Server;
  inbox: Inbox;
  keyboard: Keyboard;
  screen: FullScreen;
  redraw: () => void;
  quit: () => void;
  fail: (cause: unknown) => void;
};

/** What the keys mean at the moment. */
type Mode = { kind: "list" } | { kind: "reason"; ask: Ask; text: string } | { kind: "help" } | { kind: "away" };

const WHY = "Why not? (Enter denies, Esc goes back) ";
const CTRL_Z = "\u001a";
const UP = ["k", "\u001b[A", "\u001bOA"];
const DOWN = ["j", "\u001b[B", "\u001bOB"];
const [PAGE_UP, PAGE_DOWN] = ["\u001b[5~", "\u001b[6~"];
const [PASTE_BEGINS, PASTE_ENDS] = ["\u001b[200~", "\u001b[201~"];

/** Where the person sits: keys in, frames out. */
export function createDesk({ config, find, inbox, keyboard, screen, redraw, quit, fail }: DeskNeed) {
  let mode: Mode = { kind: "list" };
  let message: Line = [];
  let isLive = false;
  let isPasting = false;
  let reading: Disposable | undefined;
  let { url } = find();

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    redraw();
  };
  const examining = createExamining(find, redraw);
  const drafts = createDrafts(config);
  const looking = createLooking({ inbox, examining, drafts, fail });
  const deciding = createDeciding({ find, inbox, say, examine: looking.examine });
  const pageRows = () => Math.max(1, layoutOf(screen.size(), inbox.size()).detail - 1);

  /** With the ask that is looked at, if it still waits. */
  const onOpenAsk = (act: (ask: Ask) => void | Promise<void>) => () => {
    const ask = inbox.selected();
    if (ask && !ask.outcome) Promise.resolve(act(ask)).catch(fail);
  };
  const inList: Record<string, () => void> = {
    a: onOpenAsk((ask) => deciding.allow(ask, drafts.inputFor(ask.approval.id))),
    d: onOpenAsk((ask) => {
      mode = { kind: "reason", ask, text: "" };
    }),
    e: onOpenAsk(edit),
    s: inbox.next,
    " ": inbox.next,
    g: () => inbox.move(-inbox.size()),
    G: () => inbox.move(inbox.size()),
    J: () => looking.scrollBy(1),
    K: () => looking.scrollBy(-1),
    [PAGE_DOWN]: () => looking.scrollBy(pageRows()),
    [PAGE_UP]: () => looking.scrollBy(-pageRows()),
    [ESCAPE]: () => drafts.drop(inbox.selected()?.approval.id),
    [CTRL_Z]: () => void suspend().catch(fail),
    "?": () => {
      mode = { kind: "help" };
    },
    q: quit,
    ...Object.fromEntries(DOWN.map((key) => [key, () => inbox.move(1)])),
    ...Object.fromEntries(UP.map((key) => [key, () => inbox.move(-1)])),
  };

  function inReason(key: string, { ask, text }: Mode & { kind: "reason" }): void {
    const isEnter = ENTER.includes(key);
    if (isEnter && !isPasting) {
      mode = { kind: "list" };
      void deciding.deny(ask, text.trim()).catch(fail);
      return;
    }
    const next = editedLine(text, isEnter ? " " : key);
    mode = next === undefined ? { kind: "list" } : { kind: "reason", ask, text: next };
  }

  function take(key: string): void {
    if (key === PASTE_BEGINS || key === PASTE_ENDS) isPasting = key === PASTE_BEGINS;
    else if (key === CTRL_C) quit();
    else if (mode.kind === "reason") inReason(key, mode);
    // What is pasted was meant for another window.
    else if (isPasting) return;
    else if (mode.kind === "help") mode = { kind: "list" };
    else {
      if (key !== "a") deciding.disarm();
      message = [];
      inList[key]?.();
    }
  }

  function messageNow({ columns }: Size): Line {
    if (mode.kind !== "reason") return message;
    const room = Math.max(8, columns - WHY.length - 1);
    return [{ text: WHY, style: "bold" }, span(Array.from(mode.text).slice(-room).join("")), { text: "█" }];
  }

  async function edit(ask: Ask): Promise<void> {
    const { approval, context } = await examining.examine(ask.approval);
    if (!context) return say("Its whole input can't be read now: try again.", "yellow");
    await away(async () => {
      const { text, style } = await drafts.edit(approval);
      message = line(text, style);
    });
  }

  async function suspend(): Promise<void> {
    await away(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      process.once("SIGCONT", () => resolve());
      process.kill(process.pid, "SIGTSTP");
      await promise;
    });
  }

  /** The screen and the keys are somebody else's meanwhile. */
  async function away(work: () => Promise<void>): Promise<void> {
    mode = { kind: "away" };
    standUp();
    try {
      await work();
    } finally {
      mode = { kind: "list" };
      sitDown();
    }
  }

  function sitDown(): void {
    screen.enter();
    reading ??= keyboard.read((typed) => {
      for (const key of keysIn(typed)) if (mode.kind !== "away") take(key);
      redraw();
    });
    redraw();
  }

  function standUp(): void {
    reading?.[Symbol.dispose]();
    reading = undefined;
    screen.leave();
  }

  return {
    sitDown,
    frame(size: Size): Line[] {
      const shown = mode.kind === "help" ? { detail: helpLines(size.columns), scroll: 0 } : looking.detail(size);
      const [asks, position, now] = [inbox.list(), inbox.position(), Date.now() / 1000];
      return frameOf({ size, now, url, isLive, asks, position, ...shown, message: messageNow(size) });
    },
    connected(now: boolean): void {
      isLive = now;
      // After a restart it may listen elsewhere.
      if (now) ({ url } = find());
      redraw();
    },
    /** Something has happened on the server. */
    changed(event: ChangeEvent): void {
      const before = inbox.selected()?.approval.id;
      const settled = deciding.isOurs(event) ? undefined : inbox.take(event);
      if (settled) message = outcomeLine(settled);
      if (settled && mode.kind === "reason" && mode.ask.approval.id === settled.approval.id) mode = { kind: "list" };
      if (before !== inbox.selected()?.approval.id) deciding.hesitate();
      redraw();
    },
    [Symbol.dispose]: standUp,
  };
}
