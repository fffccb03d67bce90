import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { mixedCall, plantPast } from "../tests/core/rulebook/history/past-requests.ts";
import type { Figures } from "./children/sessions.ts";
import { ms, percentile, type Row, timed } from "./measure.ts";
import { OPERATOR_TOKEN, temporaryDataDir } from "./server/server-process.ts";
import { answered, freePort } from "./start-up.ts";

const PAST = 100_000;
const MOST_TRYING_MS = 1_000;
/** A request that comes meanwhile may have to wait for a slice of the work. */
const MOST_WAIT_MS = 10;
/** The kernel counts processor time in ticks of so many milliseconds. */
const TICK_MS = 10;

/** What is tried: narrow and wide rules, to allow and to deny. */
const RULES = [
  { decision: "allow", match: "Bash(npm run *)" },
  { decision: "allow", match: "Bash" },
  { decision: "allow", match: "*" },
  { decision: "allow", match: "Edit(./src/**)" },
  { decision: "deny", match: "Bash(git push *)" },
  { decision: "deny", match: "Read(.env)" },
];

/** Measures what it costs the built server to try a rule on a long past, and to suggest rules. */
export async function triedRuleFigures(program: string, count = PAST): Promise<Figures> {
  const rows: Row[] = [];
  for (const kind of ["repeating", "different"] as const) {
    using directory = temporaryDataDir();
    const place = join(directory.path, "project");
    mkdirSync(place);
    await using server = await startServer(program, join(directory.path, "data"));
    const { id } = z
      .object({ id: z.string() })
      .parse(await server.post("sessions", { name: "past", working_dir: place }));
    plantPast({ dataDir: server.dataDir, sessionId: id }, count, (at) => ({
      ...mixedCall(at, place, kind),
      status: at % 97 === 1 ? "denied" : "allowed",
    }));
    const [wide] = [{ decision: "allow", match: "*" }];
    const reading = await server.processorMsOf(() => server.post("rules/test", wide));
    rows.push({ what: `${count} ${kind} requests, read once`, measured: `${ms(reading)} of processor time` });
    for (const rule of RULES) {
      const elapsed = await server.processorMsOf(() => server.post("rules/test", rule));
      rows.push(goal(`${kind}: ${rule.decision} ${rule.match}`, elapsed, MOST_TRYING_MS));
    }
    rows.push(
      goal(`${kind}: suggest`, await server.processorMsOf(() => server.get("rules/suggestions")), MOST_TRYING_MS),
    );
    const waits: number[] = [];
    let isOver = false;
    const trying = server.post("rules/test", wide).finally(() => {
      isOver = true;
    });
    while (!isOver) waits.push(await timed(() => server.get("rules")));
    await trying;
    rows.push(goal(`${kind}: another request meanwhile, p50 of ${waits.length}`, percentile(waits, 0.5), MOST_WAIT_MS));
  }
  return { title: `(o) A rule tried on ${count} past requests of mixed tools, by processor time`, rows };
}

function goal(what: string, measured: number, most: number): Row {
  return { what, measured: ms(measured), goal: `≤ ${ms(most)}`, met: measured <= most };
}

async function startServer(program: string, dataDir: string) {
  const port = freePort();
  const flags = ["--port", String(port), "--data-dir", dataDir, "--log-level", "error"];
  const server = Bun.spawn([program, "serve", ...flags], {
    env: { ...process.env, PLEXUS_TOKEN: OPERATOR_TOKEN },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await answered(`http://127.0.0.1:${port}/readyz`);

  async function send(path: string, init: RequestInit): Promise<unknown> {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  return {
    dataDir,
    get: (path: string) => send(path, {}),
    post: (path: string, body: object) => send(path, { method: "POST", body: JSON.stringify(body) }),
    async processorMsOf(work: () => Promise<unknown>): Promise<number> {
      const before = processorMs(server.pid);
      const elapsed = await timed(work);
      return before === undefined ? elapsed : (processorMs(server.pid) ?? 0) - before;
    },
    async [Symbol.asyncDispose]() {
      server.kill("SIGKILL");
      await server.exited;
    },
  };
}

/** The processor time of a process; `undefined` on systems without `/proc`. */
function processorMs(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
