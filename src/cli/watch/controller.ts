import type { Api } from "../../client/api.ts";
import type { Inbox } from "../../client/inbox.ts";
import type { Config } from "../../config.ts";
import type { ChangeEvent } from "../../contract/change.ts";
import { reachServer } from "../server/server-client.ts";
import type { Keyboard } from "../terminal/keyboard.ts";
import { CTRL_C, keysIn } from "../terminal/keys.ts";
import { type Line, line } from "../terminal/lines.ts";
import type { Style } from "../terminal/terminal.ts";
import { createHelp } from "./help.ts";
import { createRequestsTab } from "./requests/requests-tab.ts";
import { bodyRows, frameOf } from "./screen/frame.ts";
import type { FullScreen, Size } from "./screen/full-screen.ts";
import { createSessionsTab } from "./sessions/sessions-tab.ts";

type ControllerNeed = {
  config: Config;
  api: Api;
  inbox: Inbox;
  keyboard: Keyboard;
  screen: FullScreen;
  redraw: () => void;
  quit: () => void;
  fail: (cause: unknown) => void;
  signal: AbortSignal;
};

/** Where keys go at the moment. */
type Mode = "tab" | "help" | "away";

const CTRL_Z = "\u001a";
const TAB = "\t";

/** Connects the person and the tabs: passes on keys, and draws frames. */
export function createController(need: ControllerNeed) {
  const { config, api, inbox, keyboard, screen, redraw, quit, fail, signal } = need;
  let mode: Mode = "tab";
  let shown: "requests" | "sessions" = "requests";
  let message: Line = [];
  let isLive = false;
  let keyReader: Disposable | undefined;
  let { url } = reachServer(config);

  const say = (text: string, style?: Style) => {
    message = line(text, style);
    redraw();
  };
  const rows = () => bodyRows(screen.size());
  const requests = createRequestsTab({
    ...{ config, api, inbox, rows, away, say, redraw, fail },
    isShown: () => shown === "requests",
  });
  const sessions = createSessionsTab({
    ...{ api, rows, say, redraw, fail, signal },
    isShown: () => shown === "sessions",
    decide,
  });
  const tabs = { requests, sessions };
  const help = createHelp(() => shown);

  const everywhere: Record<string, () => void> = {
    [TAB]: () => show(shown === "requests" ? "sessions" : "requests"),
    [CTRL_Z]: () => void suspend().catch(fail),
    "?": () => {
      mode = "help";
    },
    q: quit,
  };

  function take(key: string): void {
    if (key === CTRL_C) quit();
    else if (requests.takeText(key) || sessions.takeText(key)) return;
    else if (mode === "help") {
      if (!help.take(key, rows())) mode = "tab";
    } else {
      message = [];
      (everywhere[key] ?? (() => tabs[shown].take(key)))();
    }
  }

  function show(tab: typeof shown): void {
    tabs[shown].left();
    shown = tab;
    tabs[shown].entered();
  }

  function decide(sessionId: string): void {
    const request = inbox.pending().find(({ approval }) => approval.session_id === sessionId);
    if (!request) return;
    show("requests");
    requests.show(request.approval.id);
  }

  async function suspend(): Promise<void> {
    await away(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      process.once("SIGCONT", () => resolve());
      process.kill(process.pid, "SIGTSTP");
      await promise;
    });
  }

  /** Leaves the screen and the keys to other work meanwhile. */
  async function away(work: () => Promise<void>): Promise<void> {
    mode = "away";
    detach();
    try {
      await work();
    } finally {
      mode = "tab";
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
      const tab = tabs[shown];
      const { body, written, keys } = mode === "help" ? help.view(size.columns, rows()) : tab.view(size.columns);
      const pending = inbox.pending().length;
      const head = { size, pending, tab: shown, about: tab.about(), url, isLive };
      return frameOf({ ...head, body, message: written ?? message, keys });
    },
    connected(now: boolean): void {
      isLive = now;
      if (now) {
        // After a restart the server may listen elsewhere.
        ({ url } = reachServer(config));
        sessions.changed();
      }
      redraw();
    },
    /** Handles an event of the server. */
    changed(event: ChangeEvent): void {
      sessions.changed();
      if (requests.isOurs(event)) return;
      message = requests.changed(event) ?? message;
      if (event.type === "unasked_call")
        say(`${event.session_name} ran ${event.tool_name} although Plexus had not allowed it.`, "red");
      redraw();
    },
    [Symbol.dispose](): void {
      sessions[Symbol.dispose]();
      detach();
    },
  };
}
