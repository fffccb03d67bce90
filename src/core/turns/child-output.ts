import { rmSync } from "node:fs";
import { filesIn } from "../../claude/launch/launch.ts";
import type { Checkpoint } from "../../claude/output/checkpoint.ts";
import { type ExitOutcome, exitOutcome } from "../../claude/output/exit-outcome.ts";
import type { ConversationBlock, InitFact, TurnEventDraft } from "../../claude/output/facts.ts";
import { resultAfter } from "../../claude/output/line-facts.ts";
import { readOutput } from "../../claude/output/output.ts";
import { createParser } from "../../claude/output/parser.ts";
import type { ReadProgress } from "../../claude/output/read-progress.ts";
import { readExitCode, readStderrTail } from "../../claude/process/exit-status.ts";
import { isSameProcess, type ProcessIdentity } from "../../claude/process/processes.ts";
import { stopProcessTree } from "../../claude/process/stop-process.ts";
import type { LeftRunning } from "../../contract/sessions/left-running.ts";

/** How long a child may take to end by itself once it was told to. */
const GRACE_MS = 2_000;
/** More than any work comes to: a child that writes without end would fill the disk. */
const MAX_OUTPUT_BYTES = 8 * 1024 ** 3;
const TOO_MUCH = `The child wrote more than ${MAX_OUTPUT_BYTES} bytes: it was stopped.`;

/** A child's process, where there still is one, and the directory that it writes to. */
export type Child = { process: ProcessIdentity | undefined; dir: string; readProgress: ReadProgress };
/** What was read in one go: stored together, it is neither lost nor told twice. */
export type Batch = { events: TurnEventDraft[]; blocks: ConversationBlock[]; checkpoint: Checkpoint };
export type ChildEnd = Pick<Checkpoint, "init" | "result"> & {
  verdict: ExitOutcome;
  /** What it had started and could not be ended. */
  left: LeftRunning[];
};

/** Resolves when every process of the child is gone; returns those that could not be ended. */
export async function stopChild({ process, dir }: Child): Promise<LeftRunning[]> {
  return process ? stopProcessTree(process, { graceMs: GRACE_MS, dir }) : [];
}

/**
 * Hands on what the child writes as it comes, and says how it ended; `undefined` when it was left to go on. What `store`
 * answers is why the child must not go on.
 */
export async function followChild(
  child: Child,
  from: Checkpoint,
  store: (batch: Batch) => Promise<string | undefined>,
  leave: AbortSignal,
): Promise<ChildEnd | undefined> {
  const isOver = () => !child.process || !isSameProcess(child.process);
  const parser = createParser(from.parser);
  let { init, result } = from;
  let stopReason: string | undefined;
  let left: LeftRunning[] = [];
  for await (const lines of readOutput(child.dir, from.offset, { isOver, signal: leave, stored: child.readProgress })) {
    const events: TurnEventDraft[] = [];
    const blocks: ConversationBlock[] = [];
    for (const { line } of lines) {
      const parsed = parser.push(line);
      events.push(...parsed.events);
      blocks.push(...parsed.facts.blocks);
      if (parsed.facts.init && result) events.push(...parser.flush(), beginsAnew(parsed.facts.init));
      if (parsed.facts.result) result = resultAfter(result, parsed.facts.result);
      if (init || !parsed.facts.init) continue;
      init = parsed.facts.init;
      // The child has read it, and nobody else may.
      rmSync(filesIn(child.dir).mcpConfig, { force: true });
    }
    events.push(...parser.flush());
    const offset = lines.at(-1)?.offset ?? from.offset;
    const refused = await store({ events, blocks, checkpoint: { offset, parser: parser.state(), init, result } });
    stopReason ??= refused;
    if (isCutOff(init)) stopReason ??= `The child could not reach Plexus (${init?.plexusStatus}): it was stopped.`;
    if (offset > MAX_OUTPUT_BYTES) stopReason ??= TOO_MUCH;
    if (stopReason !== undefined) left = await stopChild(child);
  }
  if (leave.aborted) return undefined;
  const exitCode = readExitCode(child.dir);
  // Nobody noted an exit code: the shell around the CLI was killed, and what it had started may still run.
  if (exitCode === undefined) left = await stopChild(child);
  const ownOutcome = exitOutcome({ exitCode, init, result, stderrTail: readStderrTail(child.dir) });
  const verdict: ExitOutcome = stopReason === undefined ? ownOutcome : { outcome: "failed", message: stopReason };
  return { init, result, verdict, left };
}

/** After its result the CLI goes on by itself, with what was done in the background: what the child says then is another message. */
function beginsAnew(init: InitFact): TurnEventDraft {
  return { type: "passthrough", event_type: "system/init", data: init };
}

/** A child that can't reach us could ask nobody. */
function isCutOff(init: InitFact | undefined): boolean {
  return init?.plexusStatus !== undefined && init.plexusStatus !== "connected";
}
