/** Records a turn of the CLI at the given path: `bun tests/claude/output/recordings/record.ts PATH >2.1.x.jsonl`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { script, startScriptedModel } from "../../../support/model/scripted-model.ts";
import { rawOutput, withPlace } from "../../child.ts";

const [claude = "claude"] = process.argv.slice(2);
const bash = (command: string) => ({ name: "Bash", input: { command, description: "a command" } });
const agent = {
  description: "a task",
  subagent_type: "general-purpose",
  prompt: script([{ say: "Below.", use: [bash("echo below")] }, { say: "The subagent's words." }]),
  run_in_background: false,
};

await using model = startScriptedModel();
await withPlace(async (place, start) => {
  writeFileSync(join(place.workingDir, "note.txt"), "the note\n");
  const prompt = script([
    { say: ["First ", "words."], use: [bash("echo one"), bash("touch refused")] },
    { use: [{ name: "Read", input: { file_path: join(place.workingDir, "note.txt") } }] },
    { use: [{ name: "Agent", input: agent }] },
    { say: ["Last ", "words: ", "ünï 🙂."] },
  ]);
  const run = start({ model, claude, prompt });
  await run.outcome();
  const project = place.workingDir.replaceAll(/[^A-Za-z0-9]/g, "-");
  const text = rawOutput(run)
    .replaceAll(place.root, "/place")
    .replaceAll(project, "-place-work")
    .replaceAll(/plexus-test-\w+/g, "place");
  for (const line of text.trim().split("\n")) console.log(JSON.stringify(shortened(JSON.parse(line))));
});

/** The CLI's lists of its abilities are long, and no test needs them. */
function shortened(value: Record<string, unknown>): Record<string, unknown> {
  if (value["subtype"] !== "init") return value;
  const short = (item: unknown) => (Array.isArray(item) ? item.slice(0, 2) : item);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, short(item)]));
}
