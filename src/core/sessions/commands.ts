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
  /** The turn's place in the queue while it is queued. */
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
  /** Called with the turn once it has started, before the wait for its end. */
  onBegun?: (turn: TurnRow) => void;
  /** Called with the number of events whenever it may have changed. */
  onProgress?: (events: number) => void;
};

type SessionCommandsNeed = {
  storage: Pick<Storage, "approvals" | "turns">;
  sessions: Sessions;
  turns: Turns;
  polls: Polls;
  workspace: Workspace;
  mcpServerPolicy: McpServerPolicy;
  rules: Pick<Rules, "settingsOf" | "notesOn" | "changed">;
  /** Whether this principal's grant limits what it may allow. */
  isBounded: (principal: Principal) => Promise<boolean>;
  broadcast: Broadcast;
  abandon: (approvalIds: string[], reason: string) => Promise<void>;
  onError: (cause: unknown) => void;
  /** Paths on this host that no child may read or change. */
  privatePaths: string[];
  /** How long a request waits if the session sets no timeout of its own. */
  timeoutSecs: number;
};

/** The commands of a parent on its children, for every transport. */
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

  /** A caller with a grant must not use settings that bypass it: those of the project or user, or none to ask. */
  async function refuseUnasked(principal: Principal, config: SessionConfig): Promise<void> {
    if (config.supervision !== "inherit" && config.loopback_enabled) return;
    if (!(await need.isBounded(principal))) return;
    throw new AppError(
      "forbidden",
      "Your grant bounds what you may allow: use supervision strict or default, with loopback_enabled.",
    );
  }

  /** The rules in a session's settings. */
  function rulesFor(principal: Principal, { rules: given = [] }: SessionConfig): RulesFor {
    return (session) => rules.settingsOf(principal, session, given);
  }

  /** Returns an existing session unchanged; throws if it is by hand or if other settings are asked for. */
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

  /** The caller's session of this name, created if there is none. `told`: what the answer says about that. */
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
      // Another call has created the session meanwhile.
      const winner = isNameTaken(cause) ? await sessions.named(principal, name) : undefined;
      if (winner) return asItIs(winner);
      throw cause;
    }
  }

  /** Changes only the given settings, from the next turn on; rules and the timeout of requests change at once. */
  async function update(principal: Principal, session: Session, asked: AskedSettings): Promise<Session> {
    if (Object.values(asked).every((value) => value === undefined))
      throw new AppError("invalid_arguments", NOTHING_TO_CHANGE);
    const serversFrom = asked.mcp_servers ? ownerKey(principal) : session.serversFrom;
    const config = settings.changed(configOf(session), asked, serversFrom ?? session.owner);
    await refuseUnasked(principal, config);
    const replaced = asked.rules && rules.settingsOf(principal, session, asked.rules);
    const updated = await sessions.updateIfUnchanged(principal, session, config, serversFrom, replaced);
    if (updated && replaced) await rules.changed();
    // Another update came first: apply this one to its result.
    return updated ?? update(principal, await sessions.require(principal, session.id), asked);
  }

  /** Warns the caller about given settings that have no effect, or less effect than they seem to have. */
  function warnings(session: Session, asked: AskedSettings): Warned {
    const isAsked = [asked.allowed_tools, asked.supervision, asked.loopback_enabled].some((one) => one !== undefined);
    const { allowed_tools, supervision, loopback_enabled } = configOf(session);
    if (!loopback_enabled) return {};
    const found = [
      ...(isAsked ? ineffectiveEntries(allowed_tools, supervision) : []),
      ...rules.notesOn(asked.rules ?? []),
    ];
    return found.length === 0 ? {} : { warnings: found };
  }

  /**
   * Waits for the end of a turn, including its time in the queue. Returns earlier if a decision is needed or the time
   * is up.
   */
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
    // A session runs one turn at a time: if a newer one exists, this turn has ended.
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

    /**
     * Creates a session that continues this one's conversation. Rules that restrict the parent also restrict the fork.
     */
    async fork(principal: Principal, parent: Session, name: string): Promise<Session> {
      const fork = await sessions.fork(principal, parent, name);
      await rules.changed();
      return fork;
    },

    /** A session for a claude that is started by hand, new or existing, and the arguments to start it with. */
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

    /** Starts or queues a turn; does not wait for its end. */
    async start(session: Session, { prompt, ephemeral = false }: Work): Promise<Begun & { turn_id: string }> {
      const turn = await turns.start(session, prompt, ephemeral);
      const place = turn.status === "queued" ? await turns.place(turn.id) : undefined;
      const about = { session_id: session.id, turn_id: turn.id };
      return place === undefined ? { type: "started", ...about } : { type: "queued", ...about, place };
    },

    /** Opens each session and starts a turn in it, in order. A failure does not stop the others. */
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

    /**
     * Starts a turn and waits for its end, including its time in the queue. Returns earlier if a decision is needed or
     * the time is up.
     */
    async chat(session: Session, { prompt, ephemeral = false }: Work, options: ChatOptions): Promise<ChatResult> {
      const turn = await turns.start(session, prompt, ephemeral);
      options.onBegun?.(turn);
      return outcomeOf(session, turn, options);
    },

    /** Waits in the same way for an earlier turn. A turn of another session is `not_found`. */
    async awaitTurn(session: Session, turnId: string, options: ChatOptions): Promise<ChatResult> {
      const turn = await need.storage.turns.get(turnId);
      if (turn?.sessionId !== session.id) throw new AppError("not_found", "This session has no such turn.");
      return outcomeOf(session, turn, options);
    },

    /** Ends the running or queued turn, if any; names the processes that could not be stopped. */
    async cancel(session: Session): Promise<TurnCancelled> {
      const left = await turns.cancel(session);
      return { type: left ? "cancelled" : "not_running", session_id: session.id, ...leftRunning(left ?? []) };
    },

    /**
     * Cancels the session's turn, deletes the session, and abandons its requests. Its event streams end. Returns the
     * processes that could not be stopped.
     */
    async remove(principal: Principal, session: Session): Promise<LeftRunning[]> {
      const left: LeftRunning[] = [];
      for (;;) {
        left.push(...((await turns.cancel(session)) ?? []));
        if (await sessions.removeIfIdle(principal, session)) break;
        // Another turn has begun: let the event loop start it, then cancel it.
        await new Promise(setImmediate);
      }
      // A session by hand has no turn whose end would abandon its requests.
      await need.abandon(await need.storage.approvals.pendingIdsOf(session.id), "its session was deleted");
      broadcast.wake(session.id);
      return left;
    },
  };
}
