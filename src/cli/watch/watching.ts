import type { Config } from "../../config.ts";
import { Caller } from "../../contract/sign-in.ts";
import { findServer } from "../server/server-client.ts";
import { openKeyboard } from "../terminal/keyboard.ts";
import { CommandFailed, type Terminal } from "../terminal/terminal.ts";
import { followChanges } from "./changes.ts";
import { createDesk } from "./controller.ts";
import { openFullScreen } from "./full-screen.ts";
import { createInbox } from "./inbox.ts";
import { createPendingReader } from "./pending-reader.ts";

/** So many changes a second are drawn at most, however many come. */
const DRAW_EVERY_MS = 40;
const STOP_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/** The inbox on the whole screen, until the person quits. */
export async function watch(config: Config, terminal: Terminal): Promise<void> {
  const find = () => findServer(config);
  // Before the screen is ours, so that what is wrong can be read.
  await find().request(Caller, "GET", "/api/v1/me");
  const keyboard = openKeyboard();
  if (!keyboard) throw new CommandFailed("watch needs a terminal of its own to read keys from.");
  using stack = new DisposableStack();
  stack.use(keyboard);
  const quit = new AbortController();
  let failure: unknown;
  const fail = (cause: unknown) => {
    failure ??= cause;
    quit.abort();
  };

  const drawing = stack.use(createDrawing(() => screen.draw(desk.frame(screen.size()))));
  const screen = stack.use(openFullScreen(terminal, drawing.ask));
  const inbox = createInbox();
  const desk = stack.use(
    createDesk({ config, find, inbox, keyboard, screen, redraw: drawing.ask, quit: () => quit.abort(), fail }),
  );
  stack.use(heard(STOP_SIGNALS, () => quit.abort()));
  // A bug ends it too, once the screen on which it is told is there again.
  stack.use(heard(["uncaughtException", "unhandledRejection"], fail));

  desk.sitDown();
  const pending = createPendingReader({ find, inbox, signal: quit.signal });
  const following = followChanges({
    find,
    signal: quit.signal,
    onOpen: (isGapless) => {
      desk.connected(true);
      if (!isGapless) pending.read().then(drawing.ask, fail);
    },
    onChange: desk.changed,
    onLost: () => desk.connected(false),
  }).catch(fail);
  await Promise.race([following, aborted(quit.signal)]);
  if (failure !== undefined) throw failure;
}

/** Draws soon after it was asked to, once for all that asked meanwhile, and each second for the clocks. */
function createDrawing(draw: () => void): Disposable & { ask: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ask = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      draw();
    }, DRAW_EVERY_MS);
  };
  const clock = setInterval(ask, 1_000);
  return {
    ask,
    [Symbol.dispose]() {
      clearTimeout(timer);
      clearInterval(clock);
    },
  };
}

function heard(names: readonly string[], listen: (cause: unknown) => void): Disposable {
  for (const name of names) process.on(name, listen);
  return {
    [Symbol.dispose]() {
      for (const name of names) process.off(name, listen);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
