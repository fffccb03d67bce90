import type { Change } from "../../contract/change.ts";
import type { LinkCounts } from "../../core/approvals/links/link-maker.ts";
import type { Broadcast } from "../../core/events/broadcast.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Push } from "../push/push.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { addGauges } from "./gauges.ts";
import { createMetricText } from "./text.ts";

export type Metrics = Awaited<ReturnType<typeof openMetrics>>;

const DECISION_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600];
const TURN_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400];

type MetricsNeed = {
  storage: Pick<Storage, "approvals" | "figures" | "turns">;
  broadcast: Broadcast;
  webhooks: Webhooks;
  push: Pick<Push, "count" | "counts">;
  linkCounts: LinkCounts;
  now: () => number;
  onError: (cause: unknown) => void;
};

/**
 * The metrics for Prometheus. Counters begin at 0 with the process and increase with each committed change; gauges are
 * read on request. Neither costs more as the history grows.
 */
export async function openMetrics({ storage, broadcast, webhooks, push, linkCounts, now, onError }: MetricsNeed) {
  const metrics = createMetricText();
  const requested = metrics.counter("plexus_approvals_requested_total", "Calls that children have asked about.");
  const resolved = metrics.counter("plexus_approvals_total", "Approvals by how they ended.", {
    name: "outcome",
    values: ["allowed", "denied", "timed_out", "abandoned"],
  });
  const decision = metrics.histogram(
    "plexus_decision_seconds",
    "How long children have waited for somebody to allow or deny.",
    DECISION_SECONDS,
    { name: "outcome", values: ["allowed", "denied"] },
  );
  const ruled = metrics.counter(
    "plexus_rule_decisions_total",
    "Calls that rules have decided, so that nobody had to.",
    {
      name: "outcome",
      values: ["allowed", "denied"],
    },
  );
  const braked = metrics.counter(
    "plexus_brake_denials_total",
    "Calls that were denied at once, since they had been denied three times in a row.",
  );
  const builtin = metrics.counter("plexus_builtin_decisions_total", "Calls that built-in rules have allowed.");
  const unasked = metrics.counter(
    "plexus_unasked_calls_total",
    "Calls that ran although Plexus had not allowed them, in sessions in which none may: it should stay 0.",
  );
  const turns = metrics.counter("plexus_turns_total", "Turns by how they ended.", {
    name: "status",
    values: ["complete", "failed", "cancelled"],
  });
  const turnSeconds = metrics.histogram("plexus_turn_seconds", "How long turns have taken.", TURN_SECONDS);
  const tokens = metrics.counter("plexus_tokens_total", "Tokens that ended turns have used.", {
    name: "direction",
    values: ["input", "output"],
  });
  const cost = metrics.counter(
    "plexus_cost_usd_total",
    "What ended turns have cost, in US dollars, as Claude Code counts it.",
  );
  const streams = { events: 0, session: 0 };
  metrics.read("gauge", "plexus_streams_open", "Open event streams: of everything, or of one session.", () =>
    Object.entries(streams).map(([stream, value]) => ({ labels: { stream }, value })),
  );
  /** Events of turns that ended since the start, less the events that running turns already had at the start. */
  let endedEvents = -(await storage.figures.running()).events;
  metrics.read("counter", "plexus_turn_events_total", "Events of turns that were stored.", async () => [
    { value: Math.max(0, endedEvents + (await storage.figures.running()).events) },
  ]);
  addGauges(metrics, { storage, broadcast, webhooks, push, linkCounts, now });

  async function count(change: Change): Promise<void> {
    if (change.kind === "approval_requested") requested();
    if (change.kind === "approval_resolved") await countDecision(change);
    if (change.kind === "unasked_call") unasked();
    if (change.kind === "turn_ended") await countTurn(change);
  }

  async function countDecision({ subjectId, decision: own }: Change): Promise<void> {
    const row = own ?? (await storage.approvals.head(subjectId));
    if (!row || row.resolvedAt === null) return;
    resolved(1, row.status);
    // Nobody had to be asked.
    if (row.resolvedBy?.startsWith("rule:")) return ruled(1, row.status);
    if (row.resolvedBy === "brake") return braked();
    const isDecided = row.status === "allowed" || row.status === "denied";
    if (isDecided) decision(Math.max(0, row.resolvedAt - row.createdAt) / 1000, row.status);
  }

  async function countTurn({ subjectId }: Change): Promise<void> {
    const turn = await storage.turns.get(subjectId);
    if (!turn || turn.endedAt === null) return;
    endedEvents += turn.eventCount;
    turns(1, turn.status);
    turnSeconds(Math.max(0, turn.endedAt - turn.startedAt) / 1000);
    tokens(turn.usage?.input_tokens ?? 0, "input");
    tokens(turn.usage?.output_tokens ?? 0, "output");
    cost(turn.usage?.cost_usd ?? 0);
  }

  /** Counts in progress: `text` waits for them, so that it includes every committed change. */
  const counting = new Set<Promise<void>>();
  const listening = broadcast.listen((change) => {
    const counted = count(change)
      .catch(onError)
      .finally(() => counting.delete(counted));
    counting.add(counted);
  });
  return {
    /** Returns all metrics; `build` is the program's version and commit, which only the outermost layer knows. */
    async text(build: { version: string; commit: string }): Promise<string> {
      await Promise.all(counting);
      const help = "Always 1: the version, and the commit that the executable was built from.";
      const info = createMetricText();
      info.read("gauge", "plexus_build_info", help, () => [{ labels: build, value: 1 }]);
      return (await metrics.text()) + (await info.text());
    },
    /** Counts a call that a built-in rule allowed, which causes no change. */
    countBuiltin: (): void => builtin(),
    /** Counts an open stream until disposed. */
    openStream(stream: keyof typeof streams): Disposable {
      const opened = new DisposableStack();
      streams[stream]++;
      opened.defer(() => void streams[stream]--);
      return opened;
    },
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
