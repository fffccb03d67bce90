import { closeSync, fsyncSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { timed } from "../measure.ts";
import { openParent, scriptedChildren, workingDirIn } from "../server/parent.ts";
import { startBenchServer, temporaryDataDir } from "../server/server-process.ts";
import { writeTranscript } from "./transcript.ts";

const MEGABYTE = 1024 * 1024;

export type StoredTranscript = {
  megabytes: number;
  events: number;
  /** For everything: the child's start, its writing, storing every event, and the end of the turn. */
  perSecond: number;
  /** The same per second of the server's processor time, which other load doesn't change. */
  perProcessorSecond: number;
  /** The same lines read, parsed, written and synced to a file by a plain loop. */
  referencePerSecond: number;
  baseBytes: number;
  peakBytes: number;
};

/** Runs a child that writes a long transcript as fast as it can, for each size, while the server stores it. */
export async function storedTranscripts(sizes: number[]): Promise<StoredTranscript[]> {
  using directory = temporaryDataDir();
  const settings = scriptedChildren(directory.path);
  const working_dir = workingDirIn(directory.path);
  await using server = await startBenchServer(join(directory.path, "data"), { settings });
  using parent = await openParent(server);
  const results: StoredTranscript[] = [];
  // The first run fills the caches and isn't counted.
  for (const [number, size] of [sizes[0] ?? 1, ...sizes].entries()) {
    const transcript = join(directory.path, "transcript.jsonl");
    const calls = writeTranscript(transcript, size * MEGABYTE);
    const megabytes = statSync(transcript).size / MEGABYTE;
    const name = `long ${number}`;
    const { id: session_id } = await parent.call("claudecode_create", { name, working_dir });
    const baseBytes = await server.memory();
    await server.peakMemory();
    const begin = await server.processorMs();
    const elapsed = await timed(async () => {
      await parent.call("claudecode_chat_async", { session_id, prompt: `copy ${transcript}` });
      await parent.call("loopback_wait", { session_id, since: 0, timeout_secs: 110 });
    });
    const perProcessorSecond = megabytes / ((await server.processorMs()) / 1000 - begin / 1000);
    const peakBytes = await server.peakMemory();
    const { total_events, status } = await parent.call("claudecode_poll", { session_id, limit: 1 });
    const events = Number(total_events);
    if (status !== "complete" || events < 2 * calls) throw new Error(`${events} events of ${calls} calls: ${status}`);
    const referencePerSecond = megabytes / (reference(transcript, join(directory.path, "copy")) / 1000);
    const perSecond = megabytes / (elapsed / 1000);
    results.push({ megabytes, events, perSecond, perProcessorSecond, referencePerSecond, baseBytes, peakBytes });
  }
  return results.slice(1);
}

function reference(transcript: string, copy: string): number {
  const start = performance.now();
  const fd = openSync(copy, "w");
  for (const line of readFileSync(transcript).toString("utf8").split("\n")) {
    if (line !== "") writeSync(fd, JSON.stringify(JSON.parse(line)));
  }
  fsyncSync(fd);
  closeSync(fd);
  const elapsed = performance.now() - start;
  rmSync(copy);
  return elapsed;
}
