import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Clocks } from "../../../src/app.ts";
import type { Flags } from "../../../src/config.ts";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import type { TurnEvent } from "../../../src/contract/sessions/turn.ts";
import { CLAUDE } from "../claude/claude.ts";
import { cliEnvironment } from "../claude/cli-environment.ts";
import type { TestClient } from "../mcp/mcp-client.ts";
import { answerOf, type SessionTool, type ToolAnswerOf } from "../mcp/tool-answers.ts";
import {
  type ModelRequest,
  type ScriptedModel,
  script,
  startScriptedModel,
  type Turn,
} from "../model/scripted-model.ts";
import type { Process } from "../processes/process-table.ts";
import { endRun, RUN_MARKER, survivors } from "../processes/processes.ts";
import { type Plexus, startPlexus } from "../server/plexus.ts";
import { temporaryDirectory } from "../temporary.ts";
import { until } from "../until.ts";
import { allEvents } from "./told-events.ts";

export { bash, eventsOf, textOf } from "./told-events.ts";

export type EndedTurn = { status: string; events: TurnEvent[]; last: TurnEvent | undefined };

export type Family = AsyncDisposable & {
  plexus: Plexus;
  model: ScriptedModel;
  parent: TestClient;
  /** The directory of the children. */
  place: string;
  home: string;
  /** Calls a session tool and checks every key of its answer. */
  call<T extends SessionTool>(tool: T, args: object): Promise<ToolAnswerOf<T>>;
  /** The code and message of a refused call. */
  refused(tool: SessionTool, args: object): Promise<{ code: string; message: string }>;
  create(name: string, asked?: object): Promise<string>;
  start(name: string, turns: Turn[], asked?: object): Promise<void>;
  /** Waits for the end of the session's turn and reads all of its events. */
  ended(name: string): Promise<EndedTurn>;
  run(name: string, turns: Turn[], asked?: object): Promise<EndedTurn>;
  /** Waits until the session has a pending request, and returns the oldest. */
  ask(sessionId: string): Promise<Approval>;
  respond(approval: Approval, decision: object): Promise<void>;
  /** The present status of the approval. */
  statusOf(approval: Approval): Promise<string>;
  /** The processes of all children, including their shells. */
  children(): Process[];
  /** The model's requests in turns that `start` has begun in this session. */
  requestsOf(name: string): ModelRequest[];
};

/** For a machine that is busy with other work. */
const PATIENCE_MS = 60_000;

type Options = { flags?: Flags; environment?: Record<string, string>; clocks?: Clocks };

/**
 * A server, its parent, and a scripted model for real children. Fails at its end if a process stays behind or the
 * server had a bug.
 */
export async function startFamily({ flags = {}, environment = {}, clocks = {} }: Options = {}): Promise<Family> {
  await using stack = new AsyncDisposableStack();
  const runId = crypto.randomUUID();
  const directory = stack.use(await temporaryDirectory());
  const at = (name: string) => join(directory.path, name);
  for (const name of ["home", "work", "tmp"]) mkdirSync(at(name));
  const model = stack.use(startScriptedModel());
  stack.defer(() => expectNobodyLeft(runId));
  const plexus = stack.use(
    await startPlexus({
      clocks,
      flags: { claude: CLAUDE, ...flags },
      environment: {
        ...familyEnvironment({ home: at("home"), scratch: at("tmp"), modelUrl: model.url }),
        [RUN_MARKER]: runId,
        ...environment,
      },
    }),
  );
  stack.defer(() => expectNoBugIn(plexus.log));
  const parent = await plexus.connect();

  const call = async <T extends SessionTool>(tool: T, args: object): Promise<ToolAnswerOf<T>> => {
    const { value, isError, structured } = await parent.call(tool, args);
    if (isError) throw new Error(`${tool} was refused: ${JSON.stringify(value)}`);
    expect(structured).toEqual(value);
    return answerOf(tool, value);
  };
  const start = async (name: string, turns: Turn[], asked: object = {}) => {
    await call("claudecode_chat_async", { name, prompt: script(turns, promptOf(name)), ...asked });
  };
  const ended = async (name: string): Promise<EndedTurn> => {
    const wait = { name, wait_secs: 30, consumer: "the end", limit: 1000 };
    const { status } = await until(
      `the end of ${name}`,
      async () => {
        const poll = await call("claudecode_poll", wait);
        return !["queued", "running", "awaiting_permission"].includes(poll.status) && poll;
      },
      PATIENCE_MS,
    );
    const events = await allEvents((from_seq) => call("claudecode_poll", { name, from_seq, limit: 1000 }));
    return { status, events, last: events.at(-1) };
  };

  const owned = stack.move();
  return {
    plexus,
    model,
    parent,
    place: at("work"),
    home: at("home"),
    call,
    start,
    ended,
    async refused(tool, args) {
      const { value, isError } = await parent.call(tool, args);
      expect({ tool, isError, type: value["type"] }).toEqual({ tool, isError: true, type: "error" });
      return { code: String(value["code"]), message: String(value["message"]) };
    },
    create: async (name, asked = {}) =>
      (await call("claudecode_create", { name, working_dir: at("work"), ...asked })).id,
    async run(name, turns, asked) {
      await start(name, turns, asked);
      return ended(name);
    },
    ask: (session_id) =>
      until(
        "an ask",
        async () => {
          const { value } = await parent.call("loopback_pending", { session_id });
          return Approval.array().parse(value["approvals"])[0];
        },
        PATIENCE_MS,
      ),
    async respond(approval, decision) {
      const { value } = await parent.call("loopback_respond", { approval_id: approval.id, ...decision });
      expect(value).toMatchObject({ type: "ok" });
    },
    statusOf: async (approval) => (await plexus.app.approvals.get({ kind: "operator" }, approval.id)).status,
    children: () => survivors(runId),
    requestsOf: (name) =>
      model.requests.filter(({ conversation }) => lastPrompt(conversation).includes(promptOf(name))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function promptOf(name: string): string {
  return `Follow the script of ${name}.`;
}

function lastPrompt({ messages }: ModelRequest["conversation"]): string {
  return messages.map(({ role, content }) => `${role} ${JSON.stringify(content)}`).findLast(isPrompt) ?? "";
}

function isPrompt(message: string): boolean {
  return message.startsWith("user ") && message.includes("[[script:");
}

/** Every error in the server's log is a bug, whatever its answer was. */
function expectNoBugIn(log: string[]): void {
  const bugs = log.filter((line) => line.includes('"level":"error"'));
  if (bugs.length > 0) throw new Error(`the server has failed inside:\n${bugs.join("\n")}`);
}

export async function expectNobodyLeft(runId: string): Promise<void> {
  const left = survivors(runId).map(({ pid, command }) => `${pid} ${command}`);
  await endRun(runId);
  if (left.length > 0) throw new Error(`children were left behind:\n${left.join("\n")}`);
}

/** The same for children that run in parallel: temporary files of each stay in its own place. */
export function familyEnvironment({ home, scratch, modelUrl }: { home: string; scratch: string; modelUrl: string }) {
  return { ...cliEnvironment(home, modelUrl), TMPDIR: scratch, CLAUDE_CODE_TMPDIR: scratch };
}
