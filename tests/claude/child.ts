import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudeVersion } from "../../src/claude/cli-version.ts";
import { filesIn, type LaunchedChild, type LaunchSpec, launch } from "../../src/claude/launch/launch.ts";
import { type ExitOutcome, exitOutcome } from "../../src/claude/output/exit-outcome.ts";
import type { ConversationBlock, InitFact, ResultFact, TurnEventDraft } from "../../src/claude/output/facts.ts";
import { readOutput } from "../../src/claude/output/output.ts";
import { createParser } from "../../src/claude/output/parser.ts";
import { readExitCode, readStderrTail } from "../../src/claude/process/exit-status.ts";
import { isSameProcess } from "../../src/claude/process/processes.ts";
import { stopProcessTree } from "../../src/claude/process/stop-process.ts";
import type { LeftRunning } from "../../src/contract/sessions/left-running.ts";
import { CLAUDE } from "../support/claude/claude.ts";
import { withRun } from "../support/processes/run.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { until } from "../support/until.ts";

export type Place = { root: string; workingDir: string; home: string; dataDir: string };

export type ChildOptions = Partial<Omit<LaunchSpec, "env" | "model">> & {
  model: { url: string };
  modelName?: string;
  env?: Record<string, string>;
};

export type Run = LaunchedChild & {
  dir: string;
  events: TurnEventDraft[];
  blocks: ConversationBlock[];
  facts: { init?: InitFact; result?: ResultFact };
  event(what: string, predicate: (event: TurnEventDraft) => boolean): Promise<TurnEventDraft>;
  /** Resolves when the child has ended and all of its output is read. */
  outcome(): Promise<ExitOutcome>;
  cancel(graceMs?: number): Promise<LeftRunning[]>;
};

/** Creates directories for turns; everything started in them ends with the body. */
export async function withPlace<T>(
  body: (place: Place, start: (options: ChildOptions) => Run) => Promise<T>,
): Promise<T> {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  const place = { root: directory.path, workingDir: at("work"), home: at("home"), dataDir: at("data") };
  for (const path of [place.workingDir, join(place.home, ".claude"), at("tmp"), place.dataDir]) {
    mkdirSync(path, { recursive: true });
  }
  const runs: Run[] = [];
  const value = await withRun((mark) =>
    body(place, (options) => {
      const run = startChild(options, place, mark);
      runs.push(run);
      return run;
    }),
  );
  // Otherwise the directory would be removed while it is read.
  for (const run of runs) await run.outcome();
  return value;
}

/** TEST_CLAUDE selects another version of the CLI for these tests. */
const TESTED_CLAUDE = process.env["TEST_CLAUDE"] ?? CLAUDE;
const asked = await claudeVersion(TESTED_CLAUDE);
/** The CLI version under test. */
export const TESTED_VERSION = "version" in asked ? asked.version : undefined;

function startChild({ model, modelName, ...options }: ChildOptions, place: Place, mark: Record<string, string>): Run {
  const dir = join(place.dataDir, "turns", crypto.randomUUID());
  const child = launch({
    umask: 0o022,
    claude: TESTED_CLAUDE,
    claudeVersion: TESTED_VERSION,
    supervision: "default",
    prompt: "",
    dir,
    workingDir: place.workingDir,
    dataDir: place.dataDir,
    ...options,
    ...(modelName && { model: modelName }),
    env: { ...testEnvironment(place, model.url), ...options.env, ...mark },
  });
  const run = { events: [] as TurnEventDraft[], blocks: [] as ConversationBlock[], facts: {} as Run["facts"] };
  const parser = createParser();
  const reading = (async () => {
    for await (const batch of readOutput(dir, 0, { isOver: () => !isSameProcess(child) })) {
      for (const { line } of batch) {
        const { events, facts } = parser.push(line);
        run.events.push(...events);
        run.blocks.push(...facts.blocks);
        if (facts.init) run.facts.init = facts.init;
        if (facts.result) run.facts.result = facts.result;
      }
      run.events.push(...parser.flush());
    }
  })();
  const soFar = () => `events: ${JSON.stringify(run.events).slice(-1_500)}; stderr: ${readStderrTail(dir)}`;
  return {
    ...child,
    ...run,
    dir,
    event: (what, predicate) =>
      until(`the event of ${what}`, () => run.events.find(predicate)).catch((error: Error) => {
        throw new Error(`${error.message} (${soFar()})`);
      }),
    async outcome() {
      await reading;
      return exitOutcome({
        exitCode: readExitCode(dir),
        result: run.facts.result,
        init: run.facts.init,
        stderrTail: readStderrTail(dir),
      });
    },
    cancel: (graceMs = 2_000) => stopProcessTree(child, { graceMs, dir }),
  };
}

export function testEnvironment(
  { root, home }: Pick<Place, "root" | "home">,
  modelUrl: string,
): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    TMPDIR: join(root, "tmp"),
    CLAUDE_CODE_TMPDIR: join(root, "tmp"),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "dummy",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
}

export function rawOutput(run: Pick<Run, "dir">): string {
  return readFileSync(filesIn(run.dir).stdout, "utf8");
}

export function textOf(events: readonly TurnEventDraft[]): string {
  return events.map((event) => (event.type === "content" ? event.text : "")).join("");
}
