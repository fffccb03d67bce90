import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLAUDE } from "../tests/support/claude/claude.ts";
import { cliEnvironment } from "../tests/support/claude/cli-environment.ts";
import { script, startScriptedModel } from "../tests/support/model/scripted-model.ts";
import type { Figures } from "./children/sessions.ts";
import { ms, percentile, timed } from "./measure.ts";
import { openParent, workingDirIn } from "./server/parent.ts";
import { startBenchServer, temporaryDataDir } from "./server/server-process.ts";

const READS = 50;
const ROUNDS = 5;
const MOST_MS = 15;

/**
 * Measures the cost of sending every call to Plexus: the same turn of the real CLI, alternately with and without
 * asking.
 */
export async function builtInReadFigures(): Promise<Figures> {
  using directory = temporaryDataDir();
  await using model = startScriptedModel();
  const working_dir = workingDirIn(directory.path);
  const home = join(directory.path, "home");
  mkdirSync(home);
  const file_path = join(working_dir, "read.txt");
  writeFileSync(file_path, "one line\n".repeat(20));
  const settings = { ...cliEnvironment(home, model.url), PLEXUS_CLAUDE: CLAUDE };
  await using server = await startBenchServer(join(directory.path, "data"), { settings });
  using parent = await openParent(server);
  const prompt = script(Array.from({ length: READS }, () => ({ use: [{ name: "Read", input: { file_path } }] })));
  /** Uses a new session each time, because a longer conversation takes longer. */
  const turn = async (supervision: string, round: number) => {
    const name = `${supervision} ${round}`;
    await parent.call("claudecode_create", { name, working_dir, supervision });
    await parent.call("claudecode_chat_async", { name, prompt });
    for (;;) {
      const { status } = await parent.call("claudecode_poll", { name, limit: 1, wait_secs: 110, consumer: "bench" });
      if (status === "complete") return;
      if (status !== "running") throw new Error(`a turn is ${status}`);
    }
  };
  const measured = { asked: [] as number[], unasked: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    measured.unasked.push(await timed(() => turn("inherit", round)));
    measured.asked.push(await timed(() => turn("default", round)));
  }
  const unasked = percentile(measured.unasked, 0.5);
  const asked = percentile(measured.asked, 0.5);
  const each = (asked - unasked) / READS;
  return {
    title: `(j) A turn of ${READS} reads of the real CLI, each asked and decided by a built-in rule`,
    rows: [
      { what: "the same turn, unasked", measured: ms(unasked) },
      { what: "asked", measured: ms(asked) },
      { what: "more for each call", measured: ms(each), goal: `≤ ${MOST_MS} ms`, met: each <= MOST_MS },
    ],
  };
}
