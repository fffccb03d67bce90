import { byHandArguments } from "../../claude/launch/by-hand.ts";
import type { ConfigureInput } from "../../contract/approvals/approval.ts";
import { AppError } from "../../contract/errors.ts";
import type { TurnCancelled } from "../../contract/sessions/answers.ts";
import type { Begun } from "../../contract/sessions/chat-answers.ts";
import { type LeftRunning, leftRunning } from "../../contract/sessions/left-running.ts";
import type { CreateInput, SessionConfig } from "../../contract/sessions/session.ts";
import type { SessionStatus, Usage } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnRow } from "../../storage/turns.ts";
import { ownerKey, type Principal } from "../access/principals.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Polls } from "../turns/poll.ts";
import type { Turns } from "../turns/turns.ts";
import type { McpServerPolicy } from "./mcp-server-policy.ts";
import type { Session, Sessions } from "./sessions.ts";
import type { Workspace } from "./workspace.ts";

export type SessionCommands = ReturnType<typeof createSessionCommands>;
type ChatResult = {
  turn: TurnRow;
  status: SessionStatus;
  error: string | null;
  text: string;
  pending: ApprovalList;
  usage: Usage | null;
  /** Of a turn that is still queued, its place in the queue. */
  place: number | undefined;
};

type Work = { prompt: string; ephemeral?: boolean | undefined };

type ChatOptions = {
  waitMs: number;
  signal: AbortSignal;
  maxChars: number;
  /** Told how many events there are whenever that may have changed. */
  onProgress?: (events: number) => void;
};

type SessionCommandsNeed = {
  storage: Pick<Storage, "approvals">;
  sessions: Sessions;
  turns: Turns;
  polls: Polls;
  workspace: Workspace;
  mcpServerPolicy: McpServerPolicy;
  broadcast: Broadcast;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  /** What no child may read or change, on this host. */
  privatePaths: string[];
  /** How long a request waits, where the session says nothing else. */
  timeoutSecs: number;
};

/** What a parent does with its children, over whatever transport. */
export function createSessionCommands(need: SessionCommandsNeed) {
  const { sessions, turns, polls, workspace, broadcast, privatePaths, timeoutSecs } = need;

  function chosen(asked: Omit<CreateInput, "name">): SessionConfig {
    return {
      ...workspace.directories(asked),
      model: asked.model ?? null,
      system_prompt: asked.system_prompt ?? null,
      loopback_enabled: asked.loopback_enabled ?? true,
      loopback_timeout_secs: asked.loopback_timeout_secs ?? timeoutSecs,
      supervision: asked.supervision ?? "default",
      allowed_tools: asked.allowed_tools ?? [],
      disallowed_tools: asked.disallowed_tools ?? [],
      mcp_servers: asked.mcp_servers ?? {},
      max_turns: asked.max_turns ?? null,
      carrier: asked.carrier ?? "http",
      metadata: asked.metadata ?? {},
    };
  }

  return {
    async create(principal: Principal, { name, ...asked }: CreateInput): Promise<Session> {
      const config = chosen(asked);
      need.mcpServerPolicy.check(ownerKey(principal), config);
      return sessions.createManaged(principal, name, config);
    },

    /** A session for a claude that is started by hand (a new one, or one of the caller's), and how to start it. */
    async configure(
      principal: Principal,
      { name, session_id, supervision, working_dir }: ConfigureInput,
    ): Promise<{ session: Session; args: string[] }> {
      if (session_id === undefined) {
        const config = working_dir === undefined ? undefined : chosen({ working_dir, supervision });
        const session = await sessions.createByHand(principal, name, config);
        return { session, args: byHandArguments({ supervision: supervision ?? "default", privatePaths }) };
      }
      if (name !== undefined || working_dir !== undefined) {
        throw new AppError(
          "invalid_arguments",
          "Give a name and a working_dir for a new session, or the session_id of an existing one, not both.",
        );
      }
      const session = await sessions.require(principal, session_id);
      if (session.kind !== "by_hand") {
        throw new AppError(
          "invalid_arguments",
          `Plexus starts the children of session "${session.name}" itself: call this without a session_id to make another.`,
        );
      }
      const kept = session.config?.supervision ?? supervision ?? "default";
      if (supervision !== undefined && supervision !== kept) {
        const problem = `Session "${session.name}" has supervision ${kept}, by which its calls are judged`;
        throw new AppError("invalid_arguments", `${problem}: make another one for ${supervision}.`);
      }
      return { session, args: byHandArguments({ supervision: kept, privatePaths }) };
    },

    /** Starts a turn, or queues it, and waits for nothing. */
    async start(session: Session, { prompt, ephemeral = false }: Work): Promise<Begun & { turn_id: string }> {
      const turn = await turns.start(session, prompt, ephemeral);
      const place = turn.status === "queued" ? await turns.place(turn.id) : undefined;
      const about = { session_id: session.id, turn_id: turn.id };
      return place === undefined ? { type: "started", ...about } : { type: "queued", ...about, place };
    },

    /** Starts a turn and waits for its end, through the queue; returns earlier when a decision is needed, or when the time is up. */
    async chat(
      session: Session,
      { prompt, ephemeral = false }: Work,
      { waitMs, signal, maxChars, onProgress = () => {} }: ChatOptions,
    ): Promise<ChatResult> {
      const turn = await turns.start(session, prompt, ephemeral);
      const { status, error, pending } = await polls.poll(session, {
        consumer: "",
        fromSeq: 0,
        limit: 1,
        waitMs,
        signal,
        isEnough: ({ status, total }) => {
          onProgress(total);
          return status !== "running" && status !== "queued";
        },
      });
      const place = status === "queued" ? await turns.place(turn.id) : undefined;
      return { turn, status, error, pending, place, ...(await polls.summary(turn.id, maxChars)) };
    },

    /** Ends the turn that runs or is queued, if there is one; returns what could not be ended. */
    async cancel(session: Session): Promise<TurnCancelled> {
      const left = await turns.cancel(session);
      return { type: left ? "cancelled" : "not_running", session_id: session.id, ...leftRunning(left ?? []) };
    },

    /** Cancels what runs in the session, forgets it, and abandons its requests; its followers are told the end. Returns what could not be ended. */
    async remove(session: Session): Promise<LeftRunning[]> {
      const left: LeftRunning[] = [];
      for (;;) {
        left.push(...((await turns.cancel(session)) ?? []));
        if (await sessions.removeIfIdle(session)) break;
        // Another turn has begun: it needs the event loop to go on.
        await new Promise(setImmediate);
      }
      // That of a claude started by hand waits on: it has no turn whose end would abandon its requests.
      await need.abandon(await need.storage.approvals.pendingIdsOf(session.id), "its session was deleted");
      broadcast.wake(session.id);
      return left;
    },
  };
}
