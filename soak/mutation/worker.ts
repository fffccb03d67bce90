/** Runs the tests on one mutant after the other, as its parent requests; a global variable activates a mutant. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "bun";
import { type Instrumented, ROOT } from "./mutants.ts";

export type Job =
  | { type: "measure" }
  /** `tests` run in this order until one fails. */
  | { type: "try"; mutant: string; tests: string[] }
  | { type: "end" };
export type Report =
  | { type: "ready" }
  /**
   * The duration of each test, and the mutants that it reaches; `fixed` ones are reached while the files are loaded.
   */
  | { type: "measured"; tests: { id: string; file: string; ms: number; reaches: string[] }[]; fixed: string[] }
  /** The failed test, if any; `isTainted` if it fails without the mutant too, which has left something behind. */
  | { type: "tried"; killedBy: string | undefined; isTainted: boolean; isReached: boolean }
  | { type: "ended" };

/** The variables that the instrumented sources read. */
type Switch = {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
};

/** An endless loop passes its mutant more often than any test does. */
const MOST_HITS = 200_000;

const [sources = "", tests = "", active] = process.argv.slice(2);
const { files } = JSON.parse(readFileSync(sources, "utf8")) as Instrumented;
const global = globalThis as typeof globalThis & { __stryker__?: Switch };
const state: Switch = {};
global.__stryker__ = state;
if (active) switchOn(active);

plugin({
  name: "mutants",
  setup(build) {
    build.onLoad({ filter: /\/src\/(core|review)\/.*\.ts$/ }, ({ path }) => ({
      contents: files[path] ?? readFileSync(path, "utf8"),
      loader: "ts",
    }));
    build.onLoad({ filter: /\/tests\/.*\.test\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(
        '"bun:test"',
        JSON.stringify(join(import.meta.dir, "test-registry.ts")),
      ),
      loader: "ts",
    }));
  },
});

const registry = await import("./test-registry.ts");
try {
  for (const path of tests.split("\n")) await registry.register(join(ROOT, path), path);
} catch (cause) {
  // A mutant that breaks the loading of a file counts as killed, like one that fails its tests.
  if (!active) throw cause;
  send({ type: "ready" });
  send({ type: "tried", killedBy: `loading: ${String(cause).slice(0, 100)}`, isTainted: false, isReached: true });
  process.exit(0);
}
const all = new Map(registry.registered().map((test) => [test.id, test]));

process.on("message", async (job: Job) => {
  if (job.type === "measure") send(await measured());
  else if (job.type === "try") send(await tried(job));
  else {
    switchOff();
    await registry.tidyUp();
    send({ type: "ended" });
    process.exit(0);
  }
});
send({ type: "ready" });

async function measured(): Promise<Report> {
  const found: Extract<Report, { type: "measured" }>["tests"] = [];
  for (const [id, { file, run }] of all) {
    state.currentTestId = id;
    const from = performance.now();
    const failure = await failureOf(id);
    // A test that measures time may fail on a busy machine without any mutant.
    const ms = failure === undefined && !MEASURES.test(String(run)) ? performance.now() - from : Number.MAX_VALUE;
    found.push({ id, file, ms, reaches: Object.keys(state.mutantCoverage?.perTest[id] ?? {}) });
  }
  state.currentTestId = undefined;
  return { type: "measured", tests: found, fixed: Object.keys(state.mutantCoverage?.static ?? {}) };
}

/** Matches the code of tests whose outcome depends on the machine's speed. */
const MEASURES = /cpuUsage|performance\.now|Date\.now/;

async function tried({ mutant, tests }: { mutant: string; tests: string[] }): Promise<Report> {
  let isReached = active !== undefined;
  for (const id of tests) {
    switchOn(mutant);
    const failure = await failureOf(id);
    isReached ||= (state.hitCount ?? 0) > 0;
    if (active === undefined) switchOff();
    if (failure === undefined) continue;
    const isTainted = active === undefined && (await failureOf(id)) !== undefined;
    return { type: "tried", killedBy: id, isTainted, isReached };
  }
  return { type: "tried", killedBy: undefined, isTainted: false, isReached };
}

async function failureOf(id: string): Promise<unknown> {
  try {
    await all.get(id)?.run();
    return undefined;
  } catch (cause) {
    return cause ?? "unknown";
  }
}

function switchOn(mutant: string): void {
  Object.assign(state, { activeMutant: mutant, hitCount: 0, hitLimit: MOST_HITS });
}

function switchOff(): void {
  Object.assign(state, { activeMutant: undefined, hitCount: undefined });
}

function send(report: Report): void {
  process.send?.(report);
}
