import { byHandArguments } from "../../claude/launch/by-hand.ts";
import type { ConfigureInput } from "../../contract/approvals/approval.ts";
import { AppError, refusalOf } from "../../contract/refusals/errors.ts";
import type { Opened, TurnCancelled, Warned } from "../../contract/sessions/answers.ts";
import type { Begun } from "../../contract/sessions/chat-answers.ts";
import { type LeftRunning, leftRunning } from "../../contract/sessions/left-running.ts";
import type { ReadChild } from "../../contract/sessions/run-input.ts";
import type { CreateInput, SessionConfig } from "../../contract/sessions/session.ts";
import type { SessionStatus, Usage } from "../../contract/sessions/turn.ts";
import type { Storage } from "../../storage/storage.ts";
import type { TurnRow } from "../../storage/turns.ts";
import { ownerKey, type Principal } from "../access/principals.ts";
import type { ApprovalList } from "../approvals/approvals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { Rules } from "../rulebook/rules.ts";
import { ineffectiveEntries } from "../rules/allowed-tools/ineffective.ts";
import type { Polls } from "../turns/poll.ts";
import type { Turns } from "../turns/turns.ts";
import { configOf } from "./launch-spec.ts";
import type { McpServerPolicy } from "./mcp-server-policy.ts";
import { isNameTaken, type RulesFor, type Session, type Sessions } from "./sessions.ts";
import { type AskedSettings, createSettings } from "./settings.ts";
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

type StartedChild = ({ name: string; session_id: string } & Opened) | { name: string; refusal: AppError };
type Work = { prompt: string; ephemeral?: boolean | undefined };

const NOTHING_TO_CHANGE =
  "Nothing is to change: give at least one of the settings. null means left out: a setting can be changed, not unset.";

type ChatOptions = {
  waitMs: number;
  signal: AbortSignal;
  maxChars: number;
  /** Told which turn was started, before it is waited for. */
  onBegun?: (turn: TurnRow) => void;
  /** Told how many events there are whenever that may have changed. */
  onProgress?: (events: number) => void;
};

type SessionCommandsNeed = {
  storage: Pick<Storage, "approvals" | "turns">;
  sessions: Sessions;
  turns: Turns;
  polls: Polls;
  workspace: Workspace;
  mcpServerPolicy: McpServerPolicy;
  rules: Pick<Rules, "settingsOf" | "changed">;
  /** Whether a grant bounds what this principal may allow. */
  isBounded: (principal: Principal) => Promise<boolean>;
  broadcast: Broadcast;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  onError: (cause: unknown) => void;
  /** What no child may read or change, on this host. */
  privatePaths: string[];
  /** How long a request waits, where the session says nothing else. */
  timeoutSecs: number;
};

/** What a parent does with its children, over whatever transport. */
export function createSessionCommands(need: SessionCommandsNeed) {
  const { sessions, turns, polls, rules, broadcast, privatePaths } = need;
  const settings = createSettings(need);

  async function create(principal: Principal, { name, ...asked }: CreateInput): Promise<Session> {
    const config = settings.chosen(asked, ownerKey(principal));
    await refuseUnasked(principal, config);
    const session = await sessions.createManaged(principal, name, config, rulesFor(principal, config));
    if (config.rules) await rules.changed();
    return session;
  }

  /** Where settings of others decide, or nobody is asked, a grant would bound nothing. */
  async function refuseUnasked(principal: Principal, config: SessionConfig): Promise<void> {
    if (config.supervision !== "inherit" && config.loopback_enabled) return;
    if (!(await need.isBounded(principal))) return;
    throw new AppError(
      "forbidden",
      "Your grant bounds what you may allow: use supervision strict or default, with loopback_enabled.",
    );
  }

  /** The rules among the settings of a session. */
  function rulesFor(principal: Principal, { rules: given = [] }: SessionConfig): RulesFor {
    return (session) => rules.settingsOf(principal, session, given);
  }

  /** A session of this name as it is, unless it is of another kind, or other settings are asked. */
  function asAsked(session: Session, asked: AskedSettings): Session {
    const { name, kind } = session;
    if (kind === "by_hand")
      throw new AppError(
        "name_taken",
        `"${name}" is your session for a claude that is started by hand: choose another name.`,
      );
    settings.refuseDifferent(name, configOf(session), asked);
    return session;
  }

  /** The caller's session of this name, made if there is none; `told` is what the caller should know of that. */
  async function open(
    principal: Principal,
    { name, ...asked }: CreateInput,
  ): Promise<{ session: Session; told: Opened }> {
    const asItIs = (session: Session) => ({ session: asAsked(session, asked), told: warnings(session, asked) });
    const found = await sessions.named(principal, name);
    if (found) return asItIs(found);
    try {
      const session = await create(principal, { name, ...asked });
      const place = asked.working_dir === undefined ? { working_dir: configOf(session).working_dir } : {};
      return { session, told: { created: true, ...place, ...warnings(session, asked) } };
    } catch (cause) {
      // Somebody else has made it meanwhile.
      const winner = isNameTaken(cause) ? await sessions.named(principal, name) : undefined;
      if (winner) return asItIs(winner);
      throw cause;
    }
  }

  /** Changes what is asked, and nothing else, for the next turn on; how long a request waits at once. */
  async function update(principal: Principal, session: Session, asked: AskedSettings): Promise<Session> {
    if (Object.values(asked).every((value) => value === undefined))
      throw new AppError("invalid_arguments", NOTHING_TO_CHANGE);
    const serversFrom = asked.mcp_servers ? ownerKey(principal) : session.serversFrom;
    const config = settings.changed(configOf(session), asked, serversFrom ?? session.owner);
    await refuseUnasked(principal, config);
    const replaced = asked.rules && rules.settingsOf(principal, session, asked.rules);
    const updated = await sessions.updateIfUnchanged(principal, session, config, serversFrom, replaced);
    if (updated && replaced) await rules.changed();
    // Somebody else was first: what is asked now changes what they have left.
    return updated ?? update(principal, await sessions.require(principal, session.id), asked);
  }

  /** What a caller should know of the settings that it has just asked for: those that have no effect. */
  function warnings(session: Session, asked: AskedSettings): Warned {
    const isAsked = [asked.allowed_tools, asked.supervision, asked.loopback_enabled].some((one) => one !== undefined);
    const { allowed_tools, supervision, loopback_enabled } = configOf(session);
    if (!isAsked || !loopback_enabled) return {};
    const found = ineffectiveEntries(allowed_tools, supervision);
    return found.length === 0 ? {} : { warnings: found };
  }

  /** Waits for the end of a turn, through the queue; returns earlier when a decision is needed, or when the time is up. */
  async function outcomeOf(
    session: Session,
    turn: TurnRow,
    { waitMs, signal, maxChars, onProgress = () => {} }: ChatOptions,
  ): Promise<ChatResult> {
    const newest = await polls.poll(session, {
      consumer: "",
      fromSeq: 0,
      limit: 1,
      waitMs,
      signal,
      isEnough: ({ turnId, status, total }) => {
        onProgress(total);
        return turnId !== turn.id || (status !== "running" && status !== "queued");
      },
    });
    // A session runs one turn at a time: where another one is the newest, this one has ended.
    const ended = newest.turnId === turn.id ? undefined : await need.storage.turns.get(turn.id);
    const { status, error } = ended ?? newest;
    const pending = ended ? { approvals: [], hasMore: false } : newest.pending;
    const place = status === "queued" ? await turns.place(turn.id) : undefined;
    return { turn, status, error, pending, place, ...(await polls.result(turn.id, maxChars)) };
  }

  return {
    create,
    open,
    update,
    warnings,

    /** A new session that goes on from where this one stands; what was forbidden there is forbidden in it too. */
    async fork(principal: Principal, parent: Session, name: string): Promise<Session> {
      const fork = await sessions.fork(principal, parent, name);
      await rules.changed();
      return fork;
    },

    /** A session for a claude that is started by hand (a new one, or one of the caller's), and how to start it. */
    async configure(
      principal: Principal,
      { name, session_id, supervision, working_dir }: ConfigureInput,
    ): Promise<{ session: Session; args: string[] }> {
      if (session_id === undefined) {
        const config =
          working_dir === undefined ? undefined : settings.chosen({ working_dir, supervision }, ownerKey(principal));
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
      await sessions.noteConfigured(session);
      return { session, args: byHandArguments({ supervision: kept, privatePaths }) };
    },

    /** Starts a turn, or queues it, and waits for nothing. */
    async start(session: Session, { prompt, ephemeral = false }: Work): Promise<Begun & { turn_id: string }> {
      const turn = await turns.start(session, prompt, ephemeral);
      const place = turn.status === "queued" ? await turns.place(turn.id) : undefined;
      const about = { session_id: session.id, turn_id: turn.id };
      return place === undefined ? { type: "started", ...about } : { type: "queued", ...about, place };
    },

    /** Opens each session and starts a turn in it, in this order; one that fails stops no other. */
    async startEach(principal: Principal, children: ReadChild[]): Promise<StartedChild[]> {
      const started: StartedChild[] = [];
      for (const child of children) {
        try {
          if ("problem" in child) throw new AppError("invalid_arguments", child.problem);
          const { prompt, ...asked } = child;
          const { session, told } = await open(principal, asked);
          await turns.start(session, prompt, false);
          started.push({ name: session.name, session_id: session.id, ...told });
        } catch (cause) {
          if (!(cause instanceof AppError)) need.onError(cause);
          started.push({ name: child.name, refusal: refusalOf(cause) });
        }
      }
      return started;
    },

    /** Starts a turn and waits for its end, through the queue; returns earlier when a decision is needed, or when the time is up. */
    async chat(session: Session, { prompt, ephemeral = false }: Work, options: ChatOptions): Promise<ChatResult> {
      const turn = await turns.start(session, prompt, ephemeral);
      options.onBegun?.(turn);
      return outcomeOf(session, turn, options);
    },

    /** The same for a turn that was started before; a turn that is not this session's reads as unknown. */
    async awaitTurn(session: Session, turnId: string, options: ChatOptions): Promise<ChatResult> {
      const turn = await need.storage.turns.get(turnId);
      if (turn?.sessionId !== session.id) throw new AppError("not_found", "This session has no such turn.");
      return outcomeOf(session, turn, options);
    },

    /** Ends the turn that runs or is queued, if there is one; returns what could not be ended. */
    async cancel(session: Session): Promise<TurnCancelled> {
      const left = await turns.cancel(session);
      return { type: left ? "cancelled" : "not_running", session_id: session.id, ...leftRunning(left ?? []) };
    },

    /** Cancels what runs in the session, forgets it, and abandons its requests; its followers are told the end. Returns what could not be ended. */
    async remove(principal: Principal, session: Session): Promise<LeftRunning[]> {
      const left: LeftRunning[] = [];
      for (;;) {
        left.push(...((await turns.cancel(session)) ?? []));
        if (await sessions.removeIfIdle(principal, session)) break;
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
