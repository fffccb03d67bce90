import type { CreateInput, SessionConfig } from "../schema/session.ts";
import type { SessionStatus, Usage } from "../schema/turn.ts";
import type { TurnRow } from "../storage/turns.ts";
import type { ApprovalList } from "./approvals.ts";
import type { Broadcast } from "./broadcast.ts";
import type { Principal } from "./principals.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { TurnReading } from "./turn-events.ts";
import type { Turns } from "./turns.ts";
import type { Workspace } from "./workspace.ts";

export type Driving = ReturnType<typeof createDriving>;
export type ChatOutcome = {
  turn: TurnRow;
  status: SessionStatus;
  error: string | null;
  text: string;
  pending: ApprovalList;
  usage: Usage | null;
};

type ChatOptions = {
  waitMs: number;
  signal: AbortSignal;
  maxChars: number;
  /** Told how many events there are whenever that may have changed. */
  onProgress?: (events: number) => void;
};

type DrivingNeed = {
  sessions: Sessions;
  turns: Turns;
  turnReading: TurnReading;
  workspace: Workspace;
  broadcast: Broadcast;
  /** How long an ask waits, where the session says nothing else. */
  timeoutSecs: number;
};

/** What a parent does with its children, over whatever transport. */
export function createDriving({ sessions, turns, turnReading, workspace, broadcast, timeoutSecs }: DrivingNeed) {
  function chosen(asked: Omit<CreateInput, "name">): SessionConfig {
    return {
      working_dir: workspace.workingDir(asked.working_dir),
      model: asked.model ?? null,
      system_prompt: asked.system_prompt ?? null,
      loopback_enabled: asked.loopback_enabled ?? true,
      loopback_timeout_secs: asked.loopback_timeout_secs ?? timeoutSecs,
      supervision: asked.supervision ?? "default",
      allowed_tools: asked.allowed_tools ?? [],
      disallowed_tools: asked.disallowed_tools ?? [],
      add_dirs: asked.add_dirs ?? [],
      mcp_servers: asked.mcp_servers ?? {},
      max_turns: asked.max_turns ?? null,
      carrier: asked.carrier ?? "http",
      metadata: asked.metadata ?? {},
    };
  }

  return {
    create: async (principal: Principal, { name, ...asked }: CreateInput): Promise<Session> =>
      sessions.createManaged(principal, name, chosen(asked)),

    /** Starts a turn and waits for its end; returns earlier when a decision is needed, or when the time is up. */
    async chat(
      session: Session,
      { prompt, ephemeral = false }: { prompt: string; ephemeral?: boolean | undefined },
      { waitMs, signal, maxChars, onProgress = () => {} }: ChatOptions,
    ): Promise<ChatOutcome> {
      const turn = await turns.start(session, prompt, ephemeral);
      const { status, error, pending } = await turnReading.poll(session, {
        consumer: "",
        fromSeq: 0,
        limit: 1,
        waitMs,
        signal,
        isEnough: ({ status, total }) => {
          onProgress(total);
          return status !== "running";
        },
      });
      return { turn, status, error, pending, ...turnReading.summary(turn.id, maxChars) };
    },

    /** Cancels what runs in the session, and forgets it; whoever follows it hears the end. */
    async remove(session: Session): Promise<void> {
      do await turns.cancel(session);
      while (!(await sessions.removeIfIdle(session)));
      broadcast.wake(session.id);
    },
  };
}
