import type { LinkCounts } from "../../core/approvals/links/link-maker.ts";
import type { Broadcast } from "../../core/events/broadcast.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Push } from "../push/push.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { MetricText } from "./text.ts";

type GaugesNeed = {
  storage: Pick<Storage, "figures">;
  broadcast: Broadcast;
  webhooks: Webhooks;
  push: Pick<Push, "count" | "counts">;
  linkCounts: LinkCounts;
  now: () => number;
};

/** Adds the metrics that are read on request. */
export function addGauges(
  metrics: MetricText,
  { storage, broadcast, webhooks, push, linkCounts, now }: GaugesNeed,
): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    metrics.read("gauge", name, help, async () => [{ value: await read() }]);

  gauge(
    "plexus_approvals_pending",
    "Approvals that wait for a decision.",
    async () => (await storage.figures.pending()).count,
  );
  gauge("plexus_oldest_pending_seconds", "How long the oldest pending approval has waited; 0 with none.", async () => {
    const { oldestAt } = await storage.figures.pending();
    return oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1000;
  });
  gauge("plexus_children_running", "Children that run.", async () => (await storage.figures.running()).count);
  gauge("plexus_turns_queued", "Turns that wait for a child to end.", storage.figures.queued);
  gauge("plexus_waiters", "Approvals and sessions that a call waits on.", () => [...broadcast.waitedFor()].length);
  gauge("plexus_database_bytes", "Size of the database file.", storage.figures.databaseBytes);
  gauge("plexus_database_wal_bytes", "Size of the database's write-ahead log.", storage.figures.logBytes);
  gauge("plexus_webhooks_gone", "Webhooks that answered 410 and are told nothing more.", webhooks.gone);
  gauge("plexus_webhook_behind", "Changes that the webhook furthest behind has still to pass.", webhooks.behind);
  metrics.read(
    "counter",
    "plexus_webhook_deliveries_total",
    "Posts to webhooks by how they went; and events that were given up: dropped.",
    () => Object.entries(webhooks.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );

  gauge("plexus_push_subscriptions", "Browsers that are told of requests by push.", push.count);
  metrics.read(
    "counter",
    "plexus_push_deliveries_total",
    "Pushes by how they went; gone: the browser was forgotten; dropped: requests that it was not told of.",
    () => Object.entries(push.counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );

  metrics.read("counter", "plexus_links_total", "One-time links of webhooks by what was done with them.", () =>
    Object.entries(linkCounts).map(([use, value]) => ({ labels: { use }, value })),
  );

  gauge("process_resident_memory_bytes", "Memory of the server process.", () => process.memoryUsage.rss());
  gauge("process_heap_bytes", "Memory that the server's own objects take.", () => process.memoryUsage().heapUsed);
  gauge(
    "process_start_time_seconds",
    "When the server was started, in Unix seconds.",
    () => Math.round(performance.timeOrigin) / 1000,
  );
  metrics.read("counter", "process_cpu_seconds_total", "Processor time that the server has used.", () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
}
