import { z } from "zod";
import type { Config } from "../../config.ts";
import { TurnSummary } from "../../contract/sessions/session-view.ts";
import { JsonObject } from "../../contract/values.ts";
import { approvalFromEvent } from "../../review/approval-event.ts";
import { dangerLines, howToDecide } from "../commands/approvals/decision.ts";
import type { Server } from "../server/server-client.ts";
import { followSession, type Told } from "../server/session-stream.ts";
import type { Examining } from "../watch/examining.ts";
import { createEventText } from "./event-text.ts";
import { openKeyboard } from "./keyboard.ts";
import { jsonLine } from "./printable.ts";
import { createScreen, type Screen } from "./screen.ts";
import { CommandFailed, ExitCode, type Terminal } from "./terminal.ts";

const Asked = z.object({
  type: z.literal("approval_requested"),
  approval_id: z.string(),
  tool_name: z.string(),
  tool_use_id: z.string().nullable(),
  input: JsonObject,
});
const Resolved = z.object({ type: z.literal("approval_resolved"), approval_id: z.string() });
const Answer = z.object({ turn: TurnSummary });
const Cancelled = z.object({ type: z.enum(["cancelled", "not_running"]) });

export type Watch = {
  config: Config;
  find: () => Server;
  session: { id: string; name: string };
  /** Gives the child its work, and says which turn that is. */
  start: () => Promise<string>;
  json: boolean;
  terminal: Terminal;
};

/** Starts a turn and shows what happens until its end, which is this command's end too. */
export async function watchTurn({ config, find, session, start, json, terminal }: Watch): Promise<void> {
  using cleanup = new DisposableStack();
  const screen = createScreen(terminal);
  const { leave, interrupt, started, fail, assertSound } = cleanup.use(watchInterrupts({ find, session, screen }));
  const turnId = await start();
  started();
  const keyboard = terminal.isInteractive && !json ? openKeyboard() : undefined;
  if (keyboard) cleanup.use(keyboard);
  const need = { config, find, screen, terminal, onInterrupt: interrupt, fail };
  // Loaded only where somebody can be asked: it is large.
  const asking = keyboard && cleanup.use((await import("./asking.ts")).createAsking({ ...need, keyboard }));
  let examiner: Examining | undefined;
  const examining = async () => {
    examiner ??= (await import("../watch/examining.ts")).createExamining(find, () => {});
    return examiner;
  };
  // Whoever is asked here sees it in full when they are asked.
  const print = printer(json, screen, terminal, { withInputs: !asking });
  const onLost = () => screen.note("The server is gone. Waiting for it to come back; Ctrl-C leaves.");
  for await (const told of followSession({ find, session: session.id, turnId, isLive: true, signal: leave, onLost })) {
    const resolved = Resolved.safeParse(told.event).data;
    if (resolved) asking?.resolved(resolved.approval_id);
    print(told);
    const asked = Asked.safeParse(told.event).data;
    if (asked && asking) asking.asked(askOf(asked, session));
    else if (asked) {
      const approval = askOf(asked, session);
      for (const warning of dangerLines(await (await examining()).examine(approval))) screen.note(warning);
      screen.note(howToDecide(asked.tool_name, asked.approval_id));
    }
    if (isLast(told)) return judge(await find().request(Answer, "GET", `/api/v1/turns/${turnId}`));
  }
  assertSound();
  throw new CommandFailed(`Left. The turn may go on: see \`plexus logs ${session.name} -f\`.`, ExitCode.cancelled);
}

/** As much of it as the turn tells; the rest is read when it is shown. */
function askOf({ input, ...asked }: z.infer<typeof Asked>, session: Watch["session"]) {
  const now = Math.floor(Date.now() / 1000);
  const times = { created_at: now, expires_at: now };
  return approvalFromEvent({
    ...asked,
    tool_input: input,
    session_id: session.id,
    session_name: session.name,
    ...times,
  });
}

/** One JSON object a line for a program, text for a person. */
export function printer(
  json: boolean,
  screen: Screen,
  terminal: Terminal,
  options = { withInputs: true },
): (told: Told) => void {
  if (json) return (told) => terminal.out(jsonLine(told));
  const text = createEventText(terminal, options);
  return (told) => screen.write(text(told.event));
}

export function isLast({ event }: Told): boolean {
  return event.type === "complete" || event.type === "error";
}

function judge({ turn }: z.infer<typeof Answer>): void {
  if (turn.status === "complete") return;
  if (turn.status === "cancelled") throw new CommandFailed("The turn was cancelled.", ExitCode.cancelled);
  throw new CommandFailed("The turn failed.");
}

/** The first Ctrl-C cancels the turn, as soon as there is one; the second leaves it, as other signals do at once. */
function watchInterrupts({ find, session, screen }: Pick<Watch, "find" | "session"> & { screen: Screen }) {
  const leave = new AbortController();
  let isStarted = false;
  let isInterrupted = false;
  let failure: unknown;

  async function cancel(): Promise<void> {
    screen.note("Cancelling the turn. Ctrl-C again leaves it.");
    try {
      await find().request(Cancelled, "POST", `/api/v1/sessions/${session.id}/cancel`);
    } catch (cause) {
      if (!(cause instanceof CommandFailed)) throw cause;
      screen.note(`It could not be cancelled: ${cause.message}`);
    }
  }

  function interrupt(): void {
    if (isInterrupted) leave.abort();
    else if (isStarted) void cancel();
    isInterrupted = true;
  }

  const onEnd = () => leave.abort();
  process.on("SIGINT", interrupt);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, onEnd);
  return {
    leave: leave.signal,
    interrupt,
    /** A bug ends it too, once the terminal is as it was. */
    fail(cause: unknown): void {
      failure ??= cause;
      leave.abort();
    },
    assertSound(): void {
      if (failure !== undefined) throw failure;
    },
    started(): void {
      isStarted = true;
      if (isInterrupted) void cancel();
    },
    [Symbol.dispose]() {
      process.off("SIGINT", interrupt);
      for (const signal of ["SIGTERM", "SIGHUP"]) process.off(signal, onEnd);
    },
  };
}
