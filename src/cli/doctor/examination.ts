import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClaudeCli, type UsableClaude } from "../../claude/cli.ts";
import type { Config } from "../../config.ts";
import { Failing, type Finding, found, type Step, skipped } from "./finding.ts";
import { liveCheck } from "./live-check.ts";
import { lookAtDataDir, lookAtPort } from "./machine.ts";
import { lookAtPush, lookAtWebhooks } from "./messages.ts";
import { lookAtParent } from "./parent.ts";
import { startPrivateServer } from "./private-server.ts";
import { lookAtRules } from "./rules.ts";
import { isServed, lookAtServer, lookAtToken } from "./server.ts";
import { lookAtSettings } from "./settings.ts";

/** Runs all checks in order and reports what each finds. Leaves nothing behind, however it ends. */
export async function* examine(config: Config, signal: AbortSignal): AsyncGenerator<Finding> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  for await (const finding of findings(config, directory.path, stack, signal)) {
    // An interrupted check proves nothing.
    if (signal.aborted) return;
    yield finding;
  }
}

async function* findings(config: Config, directory: string, stack: AsyncDisposableStack, signal: AbortSignal) {
  let own: Config | undefined;
  let claude: UsableClaude | undefined;
  const broken: Step[] = [];
  const look = async (step: Step, work: () => string | Promise<string>) => {
    const finding = await found(step, work);
    if (finding.state === "failed") broken.push(step);
    return finding;
  };

  if (!config.url) yield await look("data dir", () => lookAtDataDir(config));
  const isOurs = config.url !== undefined || (await isServed(config, signal));
  if (!isOurs) yield await look("port", () => lookAtPort(config));
  const startOwn = async () => {
    own = stack.use(await startPrivateServer(config, join(directory, "data"), signal)).config;
    return own;
  };
  yield await look("server", async () => {
    if (isOurs) return lookAtServer(config, signal);
    await startOwn();
    return "none runs: one was started for this alone, and answers";
  });
  if (broken.includes("server")) yield skipped("token", "not tried without server");
  else yield await look("token", () => lookAtToken(own ?? config, signal));
  const hasToken = isOurs && broken.length === 0;
  const rules = await lookAtRules(config, hasToken, signal);
  if (rules) yield rules;
  if (hasToken) {
    yield* await lookAtWebhooks(config, signal);
    yield await lookAtPush(config, signal);
  }
  yield await look("claude", async () => {
    const found = await createClaudeCli({ ...config, signal }).look();
    if ("problem" in found) throw new Failing(...halves(found.problem));
    claude = found;
    return `${found.path}, version ${found.version}`;
  });
  yield lookAtSettings(config, process.cwd());
  const parent = lookAtParent(config);
  if (parent) yield parent;

  const needed = broken.filter((step) => ["server", "token", "claude"].includes(step));
  if (claude === undefined || needed.length > 0) {
    const rest: Step[] = ["ask", "allow", "deny", "edit"];
    for (const step of rest) yield skipped(step, `not tried without ${needed.join(" and ")}`);
    return;
  }
  // On a server of its own, so that the test does not show up among the user's sessions, decisions and statistics.
  yield* liveCheck({ server: async () => own ?? startOwn(), claude, directory, signal });
}

/** Splits a message at its last colon into the problem and the remedy. */
function halves(problem: string): [string, string] {
  const at = problem.lastIndexOf(": ");
  const remedy = problem.slice(at + 2);
  return [`${problem.slice(0, at)}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`];
}

function temporaryDirectory(): Disposable & { path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "plexus-doctor-")));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}
