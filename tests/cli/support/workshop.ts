import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Approval } from "../../../src/contract/approvals/approval.ts";
import { listSessions } from "../../../src/contract/routes/sessions.ts";
import { CLAUDE } from "../../support/claude/claude.ts";
import { cliEnvironment } from "../../support/claude/cli-environment.ts";
import { type ScriptedModel, script, startScriptedModel, type Turn } from "../../support/model/scripted-model.ts";
import { endRun, RUN_MARKER, survivors } from "../../support/processes/processes.ts";
import { PROGRAM } from "../../support/server/program.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { plexusOnScreen, type Screen } from "./command.ts";
import { openPlace, type Place } from "./place.ts";

/** A place with real children, which do what their prompts script. */
export type Workshop = Place & {
  model: ScriptedModel;
  /** The directory of the children and of the commands. */
  work: string;
  /** `plexus ARGS` on a terminal, in that directory. */
  onScreen(args: string[], options?: { columns?: number; shell?: string }): Screen;
  /** Waits until the session of this name has a pending request. */
  asked(name: string): Promise<Approval>;
  statusOf(name: string): Promise<string | undefined>;
};

/** `args` are extra arguments of its server. */
export async function openWorkshop(args: string[] = []): Promise<Workshop> {
  await using stack = new AsyncDisposableStack();
  const runId = crypto.randomUUID();
  const directory = stack.use(await temporaryDirectory());
  const model = stack.use(startScriptedModel());
  stack.defer(() => expectNobodyLeft(runId));
  const home = join(directory.path, "home");
  const work = join(directory.path, "work");
  for (const path of [home, work]) mkdirSync(path);
  const env = { ...cliEnvironment(home, model.url), [RUN_MARKER]: runId };
  const place = stack.use(await openPlace({ args: ["--claude", CLAUDE, ...args], home, env }));
  // On SIGTERM the server stops its children too.
  stack.defer(async () => void (await place.server.stop("SIGTERM")));
  const owned = stack.move();

  async function sessions() {
    return (await place.api.call(listSessions, { query: { limit: 1000 } })).sessions;
  }
  return {
    ...place,
    model,
    work,
    plexus: (args, more = {}) => place.plexus(args, { cwd: work, ...more }),
    onScreen(args, { columns = 80, shell = 'exec "$@"' } = {}) {
      const program = ["sh", "-c", shell, "sh", ...PROGRAM];
      const options = { program, cwd: work, columns, env: { NO_COLOR: "1" } };
      return plexusOnScreen([...args, "--data-dir", place.dataDir], options);
    },
    asked: (name) =>
      until(`${name} to ask`, async () => {
        const session = (await sessions()).find((one) => one.name === name);
        return session && (await place.pending(session.id))[0];
      }),
    statusOf: async (name) => (await sessions()).find((session) => session.name === name)?.status,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A prompt that scripts what the child does. */
export function scripted(...turns: Turn[]): string {
  return script(turns);
}

export const bash = (command: string) => ({ name: "Bash", input: { command, description: "a command" } });

async function expectNobodyLeft(runId: string): Promise<void> {
  const left = survivors(runId).map(({ pid, command }) => `${pid} ${command}`);
  await endRun(runId);
  if (left.length > 0) throw new Error(`children were left behind:\n${left.join("\n")}`);
}
