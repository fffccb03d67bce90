import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Approval } from "../../../src/contract/approvals/approval.ts";
import type { Finished } from "../../../src/contract/tools/wait-answers.ts";
import { CLAUDE } from "../claude/claude.ts";
import { connectClient, type TestClient } from "../mcp/mcp-client.ts";
import { answerOf, type SessionTool, type ToolAnswerOf } from "../mcp/tool-answers.ts";
import { type ScriptedModel, script, startScriptedModel, type Turn } from "../model/scripted-model.ts";
import { untilIdle } from "../processes/idle.ts";
import type { Process } from "../processes/process-table.ts";
import { descendants, RUN_MARKER, survivors } from "../processes/processes.ts";
import { type EndedTurn, expectNobodyLeft, familyEnvironment } from "../sessions/family.ts";
import { allEvents } from "../sessions/told-events.ts";
import { temporaryDirectory } from "../temporary.ts";
import { until } from "../until.ts";
import { freePort } from "./free-port.ts";
import { OPERATOR_TOKEN } from "./plexus.ts";
import { PROGRAM } from "./program.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/** The beginning of a server's command in a list of processes. */
const SERVING = [...PROGRAM, "serve"].join(" ");

/** A family whose server dies and comes back on the same data dir and port, while its children go on. */
export type MortalFamily = AsyncDisposable & {
  /** The server that runs, or ran last. */
  readonly server: ServerProcess;
  readonly url: string;
  parent: TestClient;
  model: ScriptedModel;
  dataDir: string;
  turnsDir: string;
  /** The directory of the children. */
  place: string;
  kill(): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<number | null>;
  start(args?: string[]): Promise<ServerProcess>;
  /** Kills the server, waits this long, and starts another one. */
  crash(outageMs?: number): Promise<void>;
  call<T extends SessionTool>(tool: T, args: object): Promise<ToolAnswerOf<T>>;
  create(name: string, asked?: object): Promise<string>;
  chat(name: string, turns: Turn[]): Promise<void>;
  ask(sessionId: string): Promise<Approval>;
  /** The same, after the child has read everything sent so far: cut off earlier, it has no id to come back by. */
  heldAsk(sessionId: string): Promise<Approval>;
  allow(approval: Approval): Promise<void>;
  /** Waits until the turn has this many events. */
  told(name: string, isEnough: (events: EndedTurn["events"]) => boolean): Promise<void>;
  ended(name: string): Promise<EndedTurn>;
  /** The immediate answer of `loopback_wait`. */
  wait(since?: number): Promise<{ finished: Finished[]; cursor: number }>;
  /** The processes of all children, including their shells. */
  children(): Process[];
};

type Options = { args?: string[]; claude?: string; program?: string[] };

export async function startMortalFamily(options: Options = {}): Promise<MortalFamily> {
  const { args = [], claude = CLAUDE, program } = options;
  await using stack = new AsyncDisposableStack();
  const runId = crypto.randomUUID();
  const directory = stack.use(await temporaryDirectory());
  const at = (name: string) => join(directory.path, name);
  for (const name of ["home", "work", "tmp", "data"]) mkdirSync(at(name), { mode: 0o700 });
  const model = stack.use(startScriptedModel());
  stack.defer(() => expectNobodyLeft(runId));
  const port = freePort();
  const environment = familyEnvironment({ home: at("home"), scratch: at("tmp"), modelUrl: model.url });
  const start = (further: string[] = []) =>
    startServerProcess({
      dataDir: at("data"),
      port,
      token: OPERATOR_TOKEN,
      args: ["--claude", claude, "--log-level", "debug", ...args, ...further],
      env: { ...environment, [RUN_MARKER]: runId },
      ...(program && { program }),
    });
  let server = await start();
  const url = server.url;
  stack.defer(async () => {
    await server.stop("SIGTERM");
  });
  const parent = stack.use(await connectClient(url, OPERATOR_TOKEN));

  const call = async <T extends SessionTool>(tool: T, asked: object): Promise<ToolAnswerOf<T>> => {
    const { value, isError } = await parent.call(tool, asked);
    if (isError) throw new Error(`${tool} was refused: ${JSON.stringify(value)}`);
    return answerOf(tool, value);
  };
  const read = (name: string) =>
    allEvents((from_seq) => call("claudecode_poll", { name, from_seq, limit: 1000, consumer: "test" }));

  const ask = (session_id: string) =>
    until(
      "an ask",
      async () => {
        const { value } = await parent.call("loopback_pending", { session_id });
        return Approval.array().parse(value["approvals"])[0];
      },
      30_000,
    );
  const pidOf = (sessionId: string): number => {
    using db = new Database(join(at("data"), "plexus.db"), { readonly: true });
    const query = db.query<{ pid: number }, [string]>("SELECT pid FROM turns WHERE session_id = ? ORDER BY id DESC");
    return query.get(sessionId)?.pid ?? 0;
  };

  const owned = stack.move();
  return {
    get server() {
      return server;
    },
    url,
    parent,
    model,
    dataDir: at("data"),
    turnsDir: join(at("data"), "turns"),
    place: at("work"),
    kill: () => server.kill(),
    stop: (signal) => server.stop(signal),
    async start(further) {
      server = await start(further);
      return server;
    },
    async crash(outageMs = 0) {
      await server.kill();
      await Bun.sleep(outageMs);
      server = await start();
    },
    call,
    create: async (name, asked = {}) =>
      (await call("claudecode_create", { name, working_dir: at("work"), ...asked })).id,
    async chat(name, turns) {
      await call("claudecode_chat_async", { name, prompt: script(turns) });
    },
    ask,
    async heldAsk(sessionId) {
      const asked = await ask(sessionId);
      for (const pid of descendants(pidOf(sessionId))) await untilIdle(pid);
      return asked;
    },
    async allow({ id }) {
      const { value } = await parent.call("loopback_respond", { approval_id: id, approve: true });
      expect(value).toMatchObject({ type: "ok", status: "allowed" });
    },
    async told(name, isEnough) {
      const consumer = crypto.randomUUID();
      const events: EndedTurn["events"] = [];
      await until(
        `enough to be told of ${name}`,
        async () => {
          const page = await call("claudecode_poll", { name, consumer, wait_secs: 2, limit: 1000 });
          events.push(...page.events.map(({ event }) => event));
          return isEnough(events);
        },
        40_000,
      );
    },
    async ended(name) {
      const { status } = await until(
        `the end of ${name}`,
        async () => {
          const poll = await call("claudecode_poll", { name, wait_secs: 5, consumer: "the end" });
          return !["queued", "running", "awaiting_permission"].includes(poll.status) && poll;
        },
        60_000,
      );
      const events = await read(name);
      return { status, events, last: events.at(-1) };
    },
    async wait(since) {
      const { value } = await parent.call("loopback_wait", { since, timeout_secs: 0 });
      const answer = answerOf("loopback_wait", value);
      return { finished: answer.type === "ok" ? answer.finished : [], cursor: answer.cursor };
    },
    children: () => survivors(runId).filter(({ command }) => !command.includes(SERVING)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
