import type { Config } from "../../config.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import type { Server } from "../server/server-client.ts";
import type { Keyboard } from "../terminal/keyboard.ts";
import { CTRL_C, keysIn } from "../terminal/keys.ts";
import type { Style } from "../terminal/terminal.ts";
import { createChoosing } from "./choosing.ts";
import { createDeciding } from "./deciding.ts";
import { createDrafts } from "./drafts.ts";
import { createExamining } from "./examining.ts";
import { frameOf, layoutOf } from "./frame.ts";
import type { FullScreen, Size } from "./full-screen.ts";
import { helpLines } from "./help-lines.ts";
import type { Ask, Inbox } from "./inbox.ts";
import { type Line, line } from "./lines.ts";
import { createLooking, outcomeLine } from "./looking.ts";
import { createReview } from "./review.ts";

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
type Mode = "list" | "help" | "away";

const CTRL_Z = "\u001a";
const UP = ["k", "\u001b[A", "\u001bOA"];
const DOWN = ["j", "\u001b[B", "\u001bOB"];
const [PAGE_UP, PAGE_DOWN] = ["\u001b[5~", "\u001b[6~"];

/** Where the person sits: keys in, frames out. */
export function createDesk({ config, find, inbox, keyboard, screen, redraw, quit, fail }: DeskNeed) {
  let mode: Mode = "list";
  let message: Line = [];
  let isLive = false;
  let reading: Disposable | undefined;
  let { url } = find();

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    redraw();
  };
  const examining = createExamining(find, redraw);
  const drafts = createDrafts(config);
  const choosing = createChoosing();
  const looking = createLooking({ inbox, examining, drafts, choosing, fail });
  const { examine } = looking;
  const deciding = createDeciding({
    find,
    isCurrent: (id) => inbox.selected()?.approval.id === id && !inbox.selected()?.outcome,
    onDecided: inbox.remove,
    onBeaten: inbox.settle,
    say,
    examine,
  });
  const review = createReview({ current: inbox.selected, examine, deciding, drafts, choosing, edit, say, fail });
  const pageRows = () => Math.max(1, layoutOf(screen.size(), inbox.size()).detail - 1);

  const inList: Record<string, () => void> = {
    s: inbox.next,
    " ": inbox.next,
    g: () => inbox.move(-inbox.size()),
    G: () => inbox.move(inbox.size()),
    J: () => looking.scrollBy(1),
    K: () => looking.scrollBy(-1),
    [PAGE_DOWN]: () => looking.scrollBy(pageRows()),
    [PAGE_UP]: () => looking.scrollBy(-pageRows()),
    [CTRL_Z]: () => void suspend().catch(fail),
    "?": () => {
      mode = "help";
    },
    q: quit,
    ...Object.fromEntries(DOWN.map((key) => [key, () => inbox.move(1)])),
    ...Object.fromEntries(UP.map((key) => [key, () => inbox.move(-1)])),
  };

  function take(key: string): void {
    if (key === CTRL_C) quit();
    else if (review.takeText(key)) return;
    else if (mode === "help") mode = "list";
    else {
      message = [];
      if (!review.take(key)) inList[key]?.();
    }
  }

  async function edit({ approval }: Ask): Promise<void> {
    const whole = (await examining.examine(approval)).approval;
    await away(async () => {
      const { text, style } = await drafts.edit(whole);
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
    mode = "away";
    standUp();
    try {
      await work();
    } finally {
      mode = "list";
      sitDown();
    }
  }

  function sitDown(): void {
    screen.enter();
    reading ??= keyboard.read((typed) => {
      for (const key of keysIn(typed)) if (mode !== "away") take(key);
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
      const shown = mode === "help" ? { detail: helpLines(size.columns), scroll: 0 } : looking.detail(size);
      const [asks, position, now] = [inbox.list(), inbox.position(), Date.now() / 1000];
      const shownMessage = review.reasonLine(size.columns) ?? message;
      return frameOf({ size, now, url, isLive, asks, position, ...shown, message: shownMessage });
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
      if (event.type === "unasked_call")
        say(`${event.session_name} ran ${event.tool_name} although Plexus had not allowed it.`, "red");
      if (settled) review.beaten(settled.approval.id);
      if (before !== inbox.selected()?.approval.id) deciding.hesitate();
      redraw();
    },
    [Symbol.dispose]: standUp,
  };
}
