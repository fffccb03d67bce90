import type { Figures } from "./children/sessions.ts";
import { respond } from "./decision-latency.ts";
import { ms, percentile, timed, times } from "./measure.ts";
import { ANSWERED, askedIn, connect, permitRequest } from "./server/connection.ts";
import { type BenchServer, OPERATOR_TOKEN, startBenchServer, temporaryDataDir } from "./server/server-process.ts";

const RULES = 1_000;
const ROUNDS = 1_000;
const WARM_UP = 50;
const MOST_TIMES = 1.2;

/** Measures the cost of rules for a request that none of them decides, alternating with a server without rules. */
export async function ruleFigures(): Promise<Figures> {
  using directories = new DisposableStack();
  await using servers = new AsyncDisposableStack();
  const open = async () => servers.use(await startBenchServer(directories.use(temporaryDataDir()).path));
  const [without, ruled] = [await open(), await open()];
  await addRules(ruled);
  const asks = [await asking(without), await asking(ruled)];
  const samples: number[][] = [[], []];
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (const [at, ask] of asks.entries()) {
      const elapsed = await timed(() => ask(round));
      if (round >= WARM_UP) samples[at]?.push(elapsed);
    }
  }
  const [none = Number.NaN, many = Number.NaN] = samples.map((one) => percentile(one, 0.5));
  const ratio = many / none;
  return {
    title: `(l) A request and its decision, with ${RULES} rules of which none decides it`,
    rows: [
      { what: "without rules, p50", measured: ms(none) },
      {
        what: `with ${RULES} rules, p50`,
        measured: `${ms(many)} = ${times(ratio)}`,
        goal: `≤ ${MOST_TIMES} ×`,
        met: ratio <= MOST_TIMES,
      },
    ],
  };
}

/** Adds rules of all kinds, for commands, paths, hosts and tools, that allow, deny and ask. */
async function addRules({ port }: BenchServer): Promise<void> {
  const connection = await connect(port);
  const kinds = [
    (at: number) => ({ decision: "allow", match: `Bash(npm run task-${at} *)` }),
    (at: number) => ({ decision: "deny", match: `Bash(program-${at} *)` }),
    (at: number) => ({ decision: "deny", match: `Edit(./generated/${at}/**)` }),
    (at: number) => ({ decision: "ask", match: `WebFetch(domain:host-${at}.example)` }),
    (at: number) => ({ decision: "allow", match: `mcp__server${at}` }),
  ];
  for (let at = 0; at < RULES; at++) {
    const body = kinds[at % kinds.length]?.(at);
    await connection.request({ method: "POST", path: "/api/v1/rules", token: OPERATOR_TOKEN, body }, '"hits":0');
  }
  connection.close();
}

/** Files requests and decides them, one after the other, over open connections. */
async function asking(server: BenchServer): Promise<(round: number) => Promise<void>> {
  const [token = ""] = await server.children(1);
  const [child, decider] = [await connect(server.port), await connect(server.port)];
  return async (round) => {
    const asked = await child.request(permitRequest(token, `toolu_${round}`), "notifications/progress");
    const answered = child.read(ANSWERED);
    await respond(decider, askedIn(asked));
    await answered;
  };
}
