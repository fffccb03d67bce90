import { changesOf } from "../../client/feeds.ts";
import { createInbox } from "../../client/inbox.ts";
import { createPendingReader } from "../../client/pending.ts";
import type { Config } from "../../config.ts";
import { isUnreachable, Refused } from "../../contract/refusals/refused.ts";
import { whoAmI } from "../../contract/routes/sign-in.ts";
import { openApi } from "../server/server-client.ts";
import { openKeyboard } from "../terminal/keyboard.ts";
import { CommandFailed, type Terminal } from "../terminal/terminal.ts";
import { createController } from "./controller.ts";
import { openFullScreen } from "./screen/full-screen.ts";

/** Limits how often the screen is drawn, however many changes come. */
const DRAW_EVERY_MS = 40;
const STOP_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/** Shows the inbox on the whole screen until the person quits. */
export async function watch(config: Config, terminal: Terminal): Promise<void> {
  const api = await openApi(config);
  // Check this before taking over the screen, so that an error stays readable.
  await api.call(whoAmI);
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

  const drawing = stack.use(createDrawing(() => screen.draw(controller.frame(screen.size()))));
  const screen = stack.use(openFullScreen(terminal, drawing.ask));
  const inbox = createInbox({ now: Date.now, settledShownMs: 0 });
  const controller = stack.use(
    createController({
      ...{ config, api, inbox, keyboard, screen, fail, signal: quit.signal },
      redraw: drawing.ask,
      quit: () => quit.abort(),
    }),
  );
  stack.use(heard(STOP_SIGNALS, () => quit.abort()));
  // An unexpected error ends the command too. It is printed after the screen is restored.
  stack.use(heard(["uncaughtException", "unhandledRejection"], fail));

  controller.attach();
  const { signal } = quit;
  const pending = createPendingReader({ api, inbox, signal });
  const follow = async () => {
    const changes = changesOf({
      api,
      signal,
      onOpen: (isGapless) => {
        controller.connected(true);
        if (!isGapless) pending.read().catch(fail);
      },
      onLost: (cause) => {
        if (cause instanceof Refused && !isUnreachable(cause) && cause.code !== "invalid_arguments") throw cause;
        controller.connected(false);
      },
    });
    for await (const event of changes) controller.changed(event);
  };
  await Promise.race([follow().catch(fail), aborted(signal)]);
  if (failure !== undefined) throw failure;
}

/** Draws soon after a request, once for all requests in that time, and every second for the clocks. */
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
