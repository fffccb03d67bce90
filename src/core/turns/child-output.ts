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

/** How long a child may take to exit after it was told to stop. */
const GRACE_MS = 2_000;
/** No real work writes this much. Without a bound, a child could fill the disk. */
const MAX_OUTPUT_BYTES = 8 * 1024 ** 3;
const TOO_MUCH = `The child wrote more than ${MAX_OUTPUT_BYTES} bytes: it was stopped.`;

/** A child's process, if it still exists, and its output directory. */
export type Child = { process: ProcessIdentity | undefined; dir: string; readProgress: ReadProgress };
/** Output and the position behind it, committed together, so that nothing is lost or stored twice. */
export type Batch = { events: TurnEventDraft[]; blocks: ConversationBlock[]; checkpoint: Checkpoint };
export type ChildEnd = Pick<Checkpoint, "init" | "result"> & {
  verdict: ExitOutcome;
  /** Processes that the child had started and that could not be stopped. */
  left: LeftRunning[];
};

/** Resolves when every process of the child is gone; returns those that could not be stopped. */
export async function stopChild({ process, dir }: Child): Promise<LeftRunning[]> {
  return process ? stopProcessTree(process, { graceMs: GRACE_MS, dir }) : [];
}

/**
 * Stores the child's output as it is written, and returns how the child ended; `undefined` if `leave` fired first. If
 * `store` returns a reason, the child is stopped.
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
      // The child has read its MCP config, which holds its token. Nobody else may read it.
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
  // Without an exit code the shell around the CLI was killed, and processes that it started may still run.
  if (exitCode === undefined) left = await stopChild(child);
  const ownOutcome = exitOutcome({ exitCode, init, result, stderrTail: readStderrTail(child.dir) });
  const verdict: ExitOutcome = stopReason === undefined ? ownOutcome : { outcome: "failed", message: stopReason };
  return { init, result, verdict, left };
}

/**
 * After its result the CLI may continue on its own with finished background work; what the child says then is a new
 * message.
 */
function beginsAnew(init: InitFact): TurnEventDraft {
  return { type: "passthrough", event_type: "system/init", data: init };
}

/** A child that can't connect to Plexus can't ask for permission. */
function isCutOff(init: InitFact | undefined): boolean {
  return init?.plexusStatus !== undefined && init.plexusStatus !== "connected";
}
