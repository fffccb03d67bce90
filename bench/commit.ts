import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Latency, latency } from "./measure.ts";

/** Measures the commit of one row: the disk's own cost of any durable answer. */
export function commitLatency(directory: string, rounds: number): Latency {
  using db = new Database(join(directory, "commit.db"));
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  db.run("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = db.query("INSERT INTO rows (text) VALUES ('decided')");
  const samples = Array.from({ length: rounds }, () => {
    const start = performance.now();
    insert.run();
    return performance.now() - start;
  });
  return latency(samples);
}
