import type { Api } from "../../client/api.ts";
import type { Inbox, InboxItem } from "../../client/inbox.ts";
import type { Config } from "../../config.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { reachServer } from "../server/server-client.ts";
import type { Keyboard } from "../terminal/keyboard.ts";
import { CTRL_C, keysIn } from "../terminal/keys.ts";
import type { Style } from "../terminal/terminal.ts";
import { createDetail, outcomeLine } from "./detail.ts";
import { frameOf, layoutOf } from "./frame.ts";
import type { FullScreen, Size } from "./full-screen.ts";
import { helpLines } from "./help-lines.ts";
import { type Line, line } from "./lines.ts";
import { RULE_KEYS } from "./remember-lines.ts";
import { createRequestControls } from "./request-controls.ts";

type ControllerNeed = {
  config: Config;
  api: Api;
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

/** Between the person and the inbox: keys in, frames out. */
export function createController({ config, api, inbox, keyboard, screen, redraw, quit, fail }: ControllerNeed) {
  let mode: Mode = "list";
  let message: Line = [];
  let isLive = false;
  let keyReader: Disposable | undefined;
  let { url } = reachServer(config);

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    redraw();
  };
  const { reviews, drafts, answers, remembering, confirmation, decisions, keys } = createRequestControls({
    config,
    api,
    current: inbox.selected,
    onDecided: inbox.remove,
    onBeaten: inbox.settle,
    edit,
    say,
    note: (text) => say(text, "green"),
    fail,
  });
  const detail = createDetail({ inbox, reviews, drafts, answers, fail });
  for (const part of [inbox, reviews, remembering]) part.onChange(redraw);
  const pageRows = () => Math.max(1, layoutOf(screen.size(), inbox.list().length).detail - 1);

  const inList: Record<string, () => void> = {
    s: inbox.next,
    " ": inbox.next,
    g: () => inbox.move(-inbox.list().length),
    G: () => inbox.move(inbox.list().length),
    J: () => detail.scrollBy(1),
    K: () => detail.scrollBy(-1),
    [PAGE_DOWN]: () => detail.scrollBy(pageRows()),
    [PAGE_UP]: () => detail.scrollBy(-pageRows()),
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
    else if (keys.takeText(key)) return;
    else if (mode === "help") mode = "list";
    else {
      message = [];
      if (!keys.take(key)) inList[key]?.();
    }
  }

  async function edit({ approval }: InboxItem): Promise<void> {
    const whole = (await reviews.review(approval)).approval;
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
    detach();
    try {
      await work();
    } finally {
      mode = "list";
      attach();
    }
  }

  function attach(): void {
    screen.enter();
    keyReader ??= keyboard.read((typed) => {
      for (const key of keysIn(typed)) if (mode !== "away") take(key);
      redraw();
    });
    redraw();
  }

  function detach(): void {
    keyReader?.[Symbol.dispose]();
    keyReader = undefined;
    screen.leave();
  }

  return {
    attach,
    frame(size: Size): Line[] {
      const rule = keys.ruleLines(size.columns);
      const shown = mode === "help" ? { detail: helpLines(size.columns), scroll: 0 } : detail.view(size, rule?.about);
      const [items, position, now] = [inbox.list(), inbox.position(), Date.now() / 1000];
      const shownMessage = rule?.match ?? keys.reasonLine(size.columns) ?? message;
      return frameOf({
        size,
        now,
        url,
        isLive,
        items,
        position,
        ...shown,
        message: shownMessage,
        below: rule && RULE_KEYS,
      });
    },
    connected(now: boolean): void {
      isLive = now;
      // After a restart it may listen elsewhere.
      if (now) ({ url } = reachServer(config));
      redraw();
    },
    /** Something has happened on the server. */
    changed(event: ChangeEvent): void {
      if (decisions.isOurs(event)) return;
      const before = inbox.selected()?.approval.id;
      for (const settled of inbox.take([event]).settled) {
        message = outcomeLine(settled);
        keys.ended(settled.approval.id);
      }
      if (event.type === "unasked_call")
        say(`${event.session_name} ran ${event.tool_name} although Plexus had not allowed it.`, "red");
      if (before !== inbox.selected()?.approval.id) confirmation.hesitate();
      redraw();
    },
    [Symbol.dispose]: detach,
  };
}
