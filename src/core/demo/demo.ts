import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UsableClaude } from "../../claude/cli.ts";
import { scriptedEnvironment } from "../../claude/scripted/environment.ts";
import { type ScriptedModel, startScriptedModel } from "../../claude/scripted/model.ts";
import type { DemoStarted } from "../../contract/routes/demo.ts";
import { CreateInput } from "../../contract/sessions/session.ts";
import { ownerKey, type Principal } from "../access/principals.ts";
import type { Broadcast } from "../events/broadcast.ts";
import type { SessionCommands } from "../sessions/commands.ts";
import { isNameTaken, type Session } from "../sessions/sessions.ts";
import { DEMO_PROMPT, demoReply } from "./script.ts";

/** How long the demo's session stays after its end, for a look at the transcript. */
const KEPT_MS = 10 * 60_000;
const MAX_NAMES = 20;
const OPERATOR = { kind: "operator" } as const;

type Environment = Record<string, string | undefined>;
type Demo = {
  owner: string;
  session: Session;
  turnId: string;
  directory: string;
  model: ScriptedModel;
  /** Set when its turn has ended. */
  removal: ReturnType<typeof setTimeout> | undefined;
};

type DemosNeed = {
  sessionCommands: Pick<SessionCommands, "create" | "start" | "remove">;
  broadcast: Broadcast;
  /** Finds the CLI, or throws an error that says what to do. */
  claude: () => Promise<UsableClaude>;
  /** The environment that other children inherit. */
  environment: Environment;
  /** The operator's roots for the directories of children. */
  roots: string[];
  keptMs?: number | undefined;
  onError: (cause: unknown) => void;
};

export type Demos = ReturnType<typeof createDemos>;

/**
 * Demo requests: a real child, driven by a model that is built in, asks once for approval to write a file. The child
 * works in a temporary directory and away from its user's settings; it needs no key and costs nothing. Its session is
 * removed after the demo. The decision stays on record, like every decision.
 */
export function createDemos(need: DemosNeed) {
  const demos = new Map<string, Demo>();
  const environments = new Map<string, Environment>();
  const starting = new Map<string, Promise<DemoStarted>>();
  const { keptMs = KEPT_MS } = need;
  const listening = need.broadcast.listen(({ kind, sessionId }) => {
    const demo = kind === "turn_ended" ? demos.get(sessionId) : undefined;
    if (demo) demo.removal ??= setTimeout(() => void remove(demo), keptMs).unref();
  });

  async function begin(principal: Principal): Promise<DemoStarted> {
    const owner = ownerKey(principal);
    const own = [...demos.values()].filter((one) => one.owner === owner);
    const running = own.find(({ removal }) => removal === undefined);
    if (running) return toStarted(running);
    for (const ended of own) await remove(ended);
    await need.claude();
    await using undo = new AsyncDisposableStack();
    const directory = realpathSync(mkdtempSync(join(need.roots[0] ?? tmpdir(), "plexus-demo-")));
    undo.defer(() => rmSync(directory, { recursive: true, force: true }));
    const work = join(directory, "work");
    mkdirSync(work);
    const model = undo.use(startScriptedModel(demoReply(join(work, "hello.txt")), "Plexus demo"));
    const session = await createSession(principal, work);
    undo.defer(() => need.sessionCommands.remove(OPERATOR, session).then(() => undefined));
    environments.set(session.id, scriptedEnvironment(need.environment, directory, model.url));
    undo.defer(() => void environments.delete(session.id));
    const { turn_id: turnId } = await need.sessionCommands.start(session, { prompt: DEMO_PROMPT });
    const demo: Demo = { owner, session, turnId, directory, model, removal: undefined };
    demos.set(session.id, demo);
    undo.move();
    return toStarted(demo);
  }

  /** With the first name that is free. */
  async function createSession(principal: Principal, working_dir: string): Promise<Session> {
    for (let number = 1; ; number++) {
      const name = number === 1 ? "demo" : `demo-${number}`;
      try {
        return await need.sessionCommands.create(principal, CreateInput.parse({ name, working_dir }));
      } catch (cause) {
        if (!isNameTaken(cause) || number === MAX_NAMES) throw cause;
      }
    }
  }

  async function remove(demo: Demo): Promise<void> {
    const { session, directory, model, removal } = demo;
    clearTimeout(removal);
    if (!demos.delete(session.id)) return;
    try {
      await need.sessionCommands.remove(OPERATOR, session);
    } catch (cause) {
      need.onError(cause);
    }
    environments.delete(session.id);
    await model[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  function toStarted({ session, turnId }: Demo): DemoStarted {
    const kept_secs = Math.ceil(keptMs / 1000);
    return { type: "started", session_id: session.id, turn_id: turnId, name: session.name, kept_secs };
  }

  return {
    /** Starts a demo, or returns the one of this caller that is under way. */
    start(principal: Principal): Promise<DemoStarted> {
      const owner = ownerKey(principal);
      const known = starting.get(owner) ?? begin(principal).finally(() => starting.delete(owner));
      starting.set(owner, known);
      return known;
    },
    /** The environment of a demo's children; `undefined` for all other sessions. */
    environmentOf: (sessionId: string): Environment | undefined => environments.get(sessionId),
    async [Symbol.asyncDispose]() {
      listening[Symbol.dispose]();
      await Promise.allSettled(starting.values());
      await Promise.all([...demos.values()].map(remove));
    },
  };
}
