import type { Api } from "../../../client/api.ts";
import type { SessionFeedEvent } from "../../../client/feeds.ts";
import type { Config } from "../../../config.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { cancelTurn } from "../../../contract/routes/sessions.ts";
import { getTurn } from "../../../contract/routes/turns.ts";
import type { TurnSummary } from "../../../contract/sessions/session-view.ts";
import { TurnEvent } from "../../../contract/sessions/turn.ts";
import { approvalFromEvent } from "../../../review/approval-event.ts";
import { howToDecide } from "../../commands/approvals/decision.ts";
import { isServerFailure } from "../../server/server-client.ts";
import { followSession } from "../../server/session-stream.ts";
import { createEventPrinter } from "../../terminal/event-printer.ts";
import { openKeyboard } from "../../terminal/keyboard.ts";
import { createScreen, type Screen } from "../../terminal/screen.ts";
import { CommandFailed, ExitCode, type Terminal } from "../../terminal/terminal.ts";

/** The width of lines without a screen. */
const UNLIMITED_COLUMNS = 200;

type TurnWatch = {
  config: Config;
  api: Api;
  /** The session's name. */
  name: string;
  /** Gives the child its work, and returns the ids of the session and the turn. */
  start: () => Promise<{ session_id: string; turn_id: string }>;
  json: boolean;
  terminal: Terminal;
};

/** Starts a turn and shows it until its end. Then the command ends too. */
export async function watchTurn({ config, api, name, start, json, terminal }: TurnWatch): Promise<void> {
  using cleanup = new DisposableStack();
  const screen = createScreen(terminal);
  const { leave, interrupt, started, fail, assertSound } = cleanup.use(watchInterrupts({ api, screen }));
  const { session_id: id, turn_id: turnId } = await start();
  const session = { id, name };
  started(id);
  const keyboard = terminal.isInteractive && !json ? openKeyboard() : undefined;
  if (keyboard) cleanup.use(keyboard);
  const need = { config, api, screen, terminal, onInterrupt: interrupt, fail };
  // Loaded only if a person can be asked, because it is large.
  const requests =
    keyboard && cleanup.use((await import("./turn-requests.ts")).createTurnRequests({ ...need, keyboard }));
  const report = reporter({ api, screen, terminal, json });
  const print = createEventPrinter(json, screen, terminal, { withInputs: false });
  const onLost = () => screen.note("No connection to the server. Waiting for it to come back; Ctrl-C leaves.");
  for await (const told of followSession({ api, session: session.id, turnId, isLive: true, signal: leave, onLost })) {
    const event = TurnEvent.safeParse(told.event).data;
    if (event?.type === "approval_resolved") requests?.resolved(event.approval_id);
    print(told);
    if (event?.type === "approval_requested") {
      const approval = approvalIn(event, session);
      if (requests) requests.requested(approval);
      else await report(approval);
    }
    if (isLast(told)) return failUnlessComplete((await api.call(getTurn, { params: { turn_id: turnId } })).turn);
  }
  assertSound();
  throw new CommandFailed(`Left. The turn may go on: see \`plexus logs ${session.name} -f\`.`, ExitCode.cancelled);
}

/** The request as far as the event describes it. The rest is loaded when it is shown. */
function approvalIn(
  { input: tool_input, ...asked }: Extract<TurnEvent, { type: "approval_requested" }>,
  session: { id: string; name: string },
): Approval {
  const now = Math.floor(Date.now() / 1000);
  const times = { created_at: now, expires_at: now };
  return approvalFromEvent({ ...asked, tool_input, session_id: session.id, session_name: session.name, ...times });
}

/** Prints a request if no person can be asked: the call, its dangers, and how to decide it elsewhere. */
function reporter({ api, screen, terminal, json }: Pick<TurnWatch, "api" | "terminal" | "json"> & { screen: Screen }) {
  const loading = async () => {
    const [{ createReviews }, { callLines, dangerTexts }, { painted }] = await Promise.all([
      import("../../../client/deciding/reviews.ts"),
      import("../request-lines.ts"),
      import("../../terminal/lines.ts"),
    ]);
    return { ...createReviews({ api }), callLines, dangerTexts, painted };
  };
  let loaded: ReturnType<typeof loading> | undefined;
  const columns = terminal.isInteractive ? terminal.columns : UNLIMITED_COLUMNS;

  return async (approval: Approval) => {
    loaded ??= loading();
    const { review, callLines, dangerTexts, painted } = await loaded;
    const reviewed = await review(approval);
    const lines = json ? [] : callLines(reviewed, columns);
    screen.write(lines.map((one) => `${painted(one, terminal)}\n`).join(""));
    for (const warning of dangerTexts(reviewed, approval.id)) screen.note(warning);
    screen.note(howToDecide(approval.tool_name, approval.id));
  };
}

function isLast({ event }: SessionFeedEvent): boolean {
  return event.type === "complete" || event.type === "error";
}

function failUnlessComplete({ status }: TurnSummary): void {
  if (status === "complete") return;
  if (status === "cancelled") throw new CommandFailed("The turn was cancelled.", ExitCode.cancelled);
  throw new CommandFailed("The turn failed.");
}

/**
 * The first Ctrl-C cancels the turn, as soon as there is one. The second one leaves it, as other signals do at once.
 */
function watchInterrupts({ api, screen }: Pick<TurnWatch, "api"> & { screen: Screen }) {
  const leave = new AbortController();
  let sessionId: string | undefined;
  let isInterrupted = false;
  let failure: unknown;

  async function cancel(key: string): Promise<void> {
    screen.note("Cancelling the turn. Ctrl-C again leaves it.");
    try {
      await api.call(cancelTurn, { params: { key } });
    } catch (cause) {
      if (!isServerFailure(cause)) throw cause;
      screen.note(`It could not be cancelled: ${cause.message}`);
    }
  }

  function interrupt(): void {
    if (isInterrupted) leave.abort();
    else if (sessionId !== undefined) void cancel(sessionId);
    isInterrupted = true;
  }

  const onEnd = () => leave.abort();
  process.on("SIGINT", interrupt);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, onEnd);
  return {
    leave: leave.signal,
    interrupt,
    /** An unexpected error ends the command too, after the terminal is restored. */
    fail(cause: unknown): void {
      failure ??= cause;
      leave.abort();
    },
    assertSound(): void {
      if (failure !== undefined) throw failure;
    },
    started(id: string): void {
      sessionId = id;
      if (isInterrupted) void cancel(id);
    },
    [Symbol.dispose]() {
      process.off("SIGINT", interrupt);
      for (const signal of ["SIGTERM", "SIGHUP"]) process.off(signal, onEnd);
    },
  };
}
