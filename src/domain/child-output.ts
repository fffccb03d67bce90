import { rmSync } from "node:fs";
import { readExitCode, readStderrTail } from "../claude/end-files.ts";
import { endChild } from "../claude/ending.ts";
import type { ConversationBlock, InitFact, ResultFact } from "../claude/facts.ts";
import { filesIn, type LaunchedChild } from "../claude/launch.ts";
import { readOutput } from "../claude/output.ts";
import { createParser } from "../claude/parser.ts";
import { isSameProcess } from "../claude/processes.ts";
import { judge, type Verdict } from "../claude/verdict.ts";
import type { TurnEvent } from "../schema/turn.ts";

/** How long a child may take to end by itself once it was told to. */
export const GRACE_MS = 2_000;

export type RunningChild = { child: LaunchedChild; dir: string };
export type ChildEnd = { init: InitFact | undefined; result: ResultFact | undefined; verdict: Verdict };
type Store = (events: TurnEvent[], blocks: ConversationBlock[], offset: number) => Promise<void>;

/** Hands on what the child writes as it comes, and says how it ended. */
export async function followChild({ child, dir }: RunningChild, store: Store): Promise<ChildEnd> {
  const parser = createParser();
  let init: InitFact | undefined;
  let result: ResultFact | undefined;
  for await (const lines of readOutput(dir, 0, { isOver: () => !isSameProcess(child) })) {
    const events: TurnEvent[] = [];
    const blocks: ConversationBlock[] = [];
    for (const { line } of lines) {
      const parsed = parser.push(line);
      events.push(...parsed.events);
      blocks.push(...parsed.facts.blocks);
      result = parsed.facts.result ?? result;
      if (init || !parsed.facts.init) continue;
      init = parsed.facts.init;
      // The child has read it, and nobody else may.
      rmSync(filesIn(dir).mcpConfig, { force: true });
      if (isCutOff(init)) await endChild(child, { graceMs: GRACE_MS, dir });
    }
    events.push(...parser.flush());
    await store(events, blocks, lines.at(-1)?.offset ?? 0);
  }
  await child.exited;
  if (init && isCutOff(init)) return { init, result, verdict: cutOff(init) };
  const verdict = judge({ exitCode: readExitCode(dir), init, result, stderrTail: readStderrTail(dir) });
  return { init, result, verdict };
}

/** A child that can't reach us could ask nobody. */
function isCutOff(init: InitFact): boolean {
  return init.plexusStatus !== undefined && init.plexusStatus !== "connected";
}

function cutOff(init: InitFact): Verdict {
  const message = `The child could not reach Plexus (${init.plexusStatus}), so nothing could be decided: it was stopped.`;
  return { outcome: "failed", message };
}
