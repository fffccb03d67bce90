import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Instrumented, type Mutant, ROOT } from "./mutants.ts";
import type { Job, Report } from "./worker.ts";

/** Test files that are quick, and fail only because of a wrong result. */
const TESTS = [
  "tests/core/rules/matching/{beside-wildcards,corpus,edges,find,pattern,prove,suggest,suspects,wildcard-options,withheld}.test.ts",
  "tests/core/rules/{bash,tools,allowed-tools,ineffective,literal-command}.test.ts",
  "tests/review/shell/*.test.ts",
  "tests/review/{dangers,edit}.test.ts",
];
/** Loading it takes seconds, which is too long for a process per mutant. */
const SLOW_TO_LOAD = "tests/review/shell/parsed-command.test.ts";
/** Longer tests are left out. */
const LONGEST_TEST_MS = 1_000;
/** A mutant that makes the tests take this long counts as detected. */
const GIVEN_UP_AFTER_MS = 60_000;

export type Tried = { mutant: Mutant; outcome: "killed" | "timed out" | "survived" | "not reached"; by?: string };

type Measured = Extract<Report, { type: "measured" }>;

/** Tries every mutant; reports each outcome as soon as it is known. */
export async function tryMutants(instrumented: Instrumented, onTried: (tried: Tried) => void): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-mutants-"));
  const sources = join(directory, "instrumented.json");
  writeFileSync(sources, JSON.stringify(instrumented));
  const files = TESTS.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })]).toSorted();
  const quick = files.filter((file) => file !== SLOW_TO_LOAD);
  const start = (active?: string) => startWorker(sources, active === undefined ? files : quick, active);
  let worker = await start();
  try {
    const measured = await worker.ask({ type: "measure" });
    if (measured?.type !== "measured") throw new Error("the tests could not be measured");
    const fixed = new Set(measured.fixed);
    const undecided: Mutant[] = [];
    for (const mutant of instrumented.mutants) {
      const tests = testsFor(measured, ({ reaches }) => reaches.includes(mutant.id));
      if (tests.length === 0) {
        if (fixed.has(mutant.id)) undecided.push(mutant);
        else onTried({ mutant, outcome: "not reached" });
        continue;
      }
      const report = await worker.ask({ type: "try", mutant: mutant.id, tests });
      const isTried = report?.type === "tried";
      // If the code has kept state from before the mutant was active, only a new process gives the answer.
      const needsFresh =
        isTried && (report.isTainted || (report.killedBy === undefined && (!report.isReached || fixed.has(mutant.id))));
      if (needsFresh) undecided.push(mutant);
      else onTried(outcomeOf(mutant, report));
      if (!isTried || report.isTainted) {
        await worker.end();
        worker = await start();
      }
    }
    for (const mutant of undecided) {
      const tests = testsFor(
        measured,
        ({ file, reaches }) => file !== SLOW_TO_LOAD && (fixed.has(mutant.id) || reaches.includes(mutant.id)),
      );
      const fresh = await start(mutant.id);
      onTried(outcomeOf(mutant, await fresh.ask({ type: "try", mutant: mutant.id, tests })));
      await fresh.end();
    }
  } finally {
    await worker.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

function outcomeOf(mutant: Mutant, report: Report | undefined): Tried {
  if (report?.type !== "tried") return { mutant, outcome: "timed out" };
  return report.killedBy === undefined
    ? { mutant, outcome: "survived" }
    : { mutant, outcome: "killed", by: report.killedBy };
}

/** Returns the tests that could detect a mutant, quickest first. */
function testsFor({ tests }: Measured, couldNotice: (test: Measured["tests"][number]) => boolean): string[] {
  return tests
    .filter((test) => test.ms <= LONGEST_TEST_MS && couldNotice(test))
    .toSorted((a, b) => a.ms - b.ms)
    .map(({ id }) => id);
}

async function startWorker(sources: string, files: string[], active: string | undefined) {
  const waiting: ((report: Report | undefined) => void)[] = [];
  const reports: (Report | undefined)[] = [];
  const tell = (report: Report | undefined) => {
    const next = waiting.shift();
    if (next) next(report);
    else reports.push(report);
  };
  let isAlive = true;
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "worker.ts"),
      sources,
      files.join("\n"),
      ...(active === undefined ? [] : [active]),
    ],
    {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "inherit"],
      ipc: (report) => tell(report as Report),
      onExit: () => {
        isAlive = false;
        tell(undefined);
      },
    },
  );
  const next = (): Promise<Report | undefined> => {
    if (reports.length > 0) return Promise.resolve(reports.shift());
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), GIVEN_UP_AFTER_MS);
      waiting.push((report) => {
        clearTimeout(timer);
        resolve(report);
      });
    });
  };
  const first = await next();
  return {
    isAlive: () => isAlive,
    /** Returns `undefined` if the worker has ended without an answer. */
    async ask(job: Job): Promise<Report | undefined> {
      if (first === undefined) return undefined;
      if (isAlive) child.send(job);
      return next();
    },
    async end(): Promise<void> {
      if (isAlive) child.send({ type: "end" } satisfies Job);
      const timer = setTimeout(() => child.kill("SIGKILL"), GIVEN_UP_AFTER_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
