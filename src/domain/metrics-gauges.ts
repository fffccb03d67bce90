import { Counter, Gauge, type Registry } from "prom-client";
import type { Storage } from "../storage/database.ts";
import type { Broadcast } from "./broadcast.ts";
import type { Webhooks } from "./webhooks.ts";

type GaugesNeed = {
  registers: Registry[];
  storage: Storage;
  broadcast: Broadcast;
  webhooks: Webhooks;
  now: () => number;
  storedEvents: () => number;
};

/** Figures that are read when somebody asks for them. */
export function addGauges({ registers, storage, broadcast, webhooks, now, storedEvents }: GaugesNeed): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const counter = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(Math.max(0, read()));
      },
    });

  gauge("plexus_approvals_pending", "Approvals that wait for a decision.", () => storage.figures.pending().count);
  gauge("plexus_oldest_pending_seconds", "How long the oldest pending approval has waited; 0 with none.", () => {
    const { oldestAt } = storage.figures.pending();
    return oldestAt === null ? 0 : Math.max(0, now() - oldestAt) / 1000;
  });
  gauge("plexus_children_running", "Children that run.", () => storage.figures.running().count);
  gauge("plexus_waiters", "Approvals and sessions that a call waits on.", () => [...broadcast.waitedFor()].length);
  gauge("plexus_database_bytes", "Size of the database file.", storage.figures.databaseBytes);
  gauge("plexus_database_wal_bytes", "Size of the database's write-ahead log.", storage.figures.logBytes);
  gauge("plexus_webhooks_gone", "Webhooks that answered 410 and are told nothing more.", webhooks.gone);
  gauge("plexus_webhook_behind", "Changes that the webhook furthest behind has still to pass.", webhooks.behind);
  counter("plexus_turn_events_total", "Events of turns that were stored.", storedEvents);
  new Counter({
    name: "plexus_webhook_deliveries_total",
    help: "Posts to webhooks by how they went: delivered, failed, refused or gone; and events given up: dropped.",
    labelNames: ["outcome"] as const,
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(webhooks.counts)) this.inc({ outcome }, count);
    },
  });

  gauge("process_resident_memory_bytes", "Memory of the server process.", () => process.memoryUsage.rss());
  gauge("process_heap_bytes", "Memory that the server's own objects take.", () => process.memoryUsage().heapUsed);
  gauge(
    "process_start_time_seconds",
    "When the server was started, in Unix seconds.",
    () => Math.round(performance.timeOrigin) / 1000,
  );
  counter("process_cpu_seconds_total", "Processor time that the server has used.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
