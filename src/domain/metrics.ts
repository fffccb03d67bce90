import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Change } from "../schema/change.ts";
import type { Storage } from "../storage/database.ts";
import type { Broadcast } from "./broadcast.ts";
import { addGauges } from "./metrics-gauges.ts";
import type { Webhooks } from "./webhooks.ts";

export type Metrics = ReturnType<typeof createMetrics>;

const DECISION_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];
const TURN_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400];

type MetricsNeed = { storage: Storage; broadcast: Broadcast; webhooks: Webhooks; now: () => number };

/**
 * What Prometheus reads. Counters begin at 0 with the process and move with each change as it is committed; gauges are
 * read when somebody asks. Neither costs more as the history grows.
 */
export function createMetrics({ storage, broadcast, webhooks, now }: MetricsNeed) {
  const registry = new Registry();
  const registers = [registry];
  const requested = new Counter({
    name: "plexus_approvals_requested_total",
    help: "Calls that children have asked about.",
    registers,
  });
  const resolved = new Counter({
    name: "plexus_approvals_total",
    help: "Approvals by how they ended: allowed, denied, timed_out or abandoned.",
    labelNames: ["outcome"] as const,
    registers,
  });
  const decision = new Histogram({
    name: "plexus_decision_seconds",
    help: "How long children have waited for somebody to allow or deny.",
    labelNames: ["outcome"] as const,
    buckets: DECISION_SECONDS,
    registers,
  });
  const turns = new Counter({
    name: "plexus_turns_total",
    help: "Turns by how they ended: complete, failed or cancelled.",
    labelNames: ["status"] as const,
    registers,
  });
  const turnSeconds = new Histogram({
    name: "plexus_turn_seconds",
    help: "How long turns have taken.",
    buckets: TURN_SECONDS,
    registers,
  });
  const tokens = new Counter({
    name: "plexus_tokens_total",
    help: "Tokens that ended turns have used: input or output.",
    labelNames: ["direction"] as const,
    registers,
  });
  const cost = new Counter({
    name: "plexus_cost_usd_total",
    help: "What ended turns have cost, in US dollars, as Claude Code counts it.",
    registers,
  });
  // Present from the start, so that the first one shows as an increase.
  for (const outcome of ["allowed", "denied", "timed_out", "abandoned"]) resolved.inc({ outcome }, 0);
  for (const status of ["complete", "failed", "cancelled"]) turns.inc({ status }, 0);
  for (const direction of ["input", "output"]) tokens.inc({ direction }, 0);
  for (const outcome of ["allowed", "denied"]) decision.zero({ outcome });

  let endedEvents = -storage.figures.running().events;
  const streams = new Gauge({
    name: "plexus_streams_open",
    help: "Event streams that are open: of all that happens (events), or of one session (session).",
    labelNames: ["stream"] as const,
    registers,
  });
  for (const stream of ["events", "session"]) streams.set({ stream }, 0);
  /** Those of turns that run are counted where they stand, so that none is counted twice. */
  const storedEvents = () => endedEvents + storage.figures.running().events;
  addGauges({ registers, storage, broadcast, webhooks, now, storedEvents });

  function count(change: Change): void {
    if (change.kind === "approval_requested") requested.inc();
    if (change.kind === "approval_resolved") countDecision(change);
    if (change.kind === "turn_ended") countTurn(change);
  }

  function countDecision({ subjectId }: Change): void {
    const row = storage.approvals.head(subjectId);
    if (!row || row.resolvedAt === null) return;
    resolved.inc({ outcome: row.status });
    const isDecided = row.status === "allowed" || row.status === "denied";
    if (isDecided) decision.observe({ outcome: row.status }, Math.max(0, row.resolvedAt - row.createdAt) / 1000);
  }

  function countTurn({ subjectId }: Change): void {
    const turn = storage.turns.get(subjectId);
    if (!turn || turn.endedAt === null) return;
    endedEvents += turn.eventCount;
    turns.inc({ status: turn.status });
    turnSeconds.observe(Math.max(0, turn.endedAt - turn.startedAt) / 1000);
    tokens.inc({ direction: "input" }, turn.usage?.input_tokens ?? 0);
    tokens.inc({ direction: "output" }, turn.usage?.output_tokens ?? 0);
    cost.inc(turn.usage?.cost_usd ?? 0);
  }

  const listening = broadcast.listen(count);
  return {
    /** All of them, as Prometheus reads them. */
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
    /** Says what this program is, which only the outermost layer knows. */
    setBuild(build: { version: string; commit: string }): void {
      registry.removeSingleMetric("plexus_build_info");
      new Gauge({
        name: "plexus_build_info",
        help: "Always 1: the version, and the commit that the executable was built from.",
        labelNames: ["version", "commit"] as const,
        registers,
      }).set(build, 1);
    },
    /** Counts an open stream, until disposed. */
    openStream(stream: "events" | "session"): Disposable {
      const opened = new DisposableStack();
      streams.inc({ stream });
      opened.defer(() => streams.dec({ stream }));
      return opened;
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
