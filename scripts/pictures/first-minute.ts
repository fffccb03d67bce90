import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { script, startScriptedModel } from "../../tests/support/model/scripted-model.ts";
import { plexusBinary } from "../../tests/support/server/binary.ts";
import { temporaryDirectory } from "../../tests/support/temporary.ts";
import { until } from "../../tests/support/until.ts";
import { ROOT } from "../run.ts";

const PROMPT = "Write a greeting to hello.txt";
/** Keys are ignored this soon after a request appears: a person has to read it first. */
const READ_MS = 500;

/** Measures a newcomer's way from an empty home to the first decision, with the real executable and CLI. */
const binary = await plexusBinary();
await using directory = await temporaryDirectory();
await using model = startScriptedModel();
const [home, project] = [join(directory.path, "home"), join(directory.path, "greeter")];
for (const path of [home, project]) await mkdir(path);
const env = {
  PATH: [join(binary, ".."), join(ROOT, "node_modules/.bin"), process.env["PATH"]].join(":"),
  HOME: home,
  TERM: "xterm",
  NO_COLOR: "1",
  PLEXUS_PORT: "0",
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "dummy",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
};
const input = { file_path: join(project, "hello.txt"), content: "Hello!\n" };
const scripted = script([{ use: [{ name: "Write", input }] }, { say: "Done." }], PROMPT);
const rows: [seconds: number, typed: string, seen: string][] = [];

const startedAt = performance.now();
const passed = () => (performance.now() - startedAt) / 1000;
const screen = onScreen(["plexus", "run", scripted]);
const command = `plexus run "${PROMPT}"`;
await screen.shows("Started Plexus at");
rows.push([passed(), command, "Plexus has started its server, which goes on in the background"]);
await screen.shows("Allow it?");
rows.push([passed(), "", "the child wants to write hello.txt; the file is shown, and nothing is written yet"]);
await Bun.sleep(READ_MS);
screen.type("a");
await screen.exited;
rows.push([passed(), "a", "the file is written, and the child has ended"]);
for (const [typed, seen] of [
  ["plexus history", "who decided, what, and how fast"],
  ["plexus stop", "the server has stopped"],
] as const) {
  const done = onScreen(typed.split(" "));
  if ((await done.exited) !== 0) throw new Error(`${typed} failed: ${done.text()}`);
  rows.push([passed(), typed, seen]);
}
if ((await Bun.file(input.file_path).text()) !== input.content) throw new Error("hello.txt was not written");
await writeFile(join(ROOT, "docs/first-minute.md"), page());
console.log(rows.map(([seconds, typed, seen]) => `${seconds.toFixed(1)} s  ${typed}  ${seen}`).join("\n"));

function onScreen(words: string[]) {
  let text = "";
  const decoder = new TextDecoder();
  const data = (_: unknown, chunk: Uint8Array) => {
    text += decoder.decode(chunk, { stream: true });
  };
  const started = Bun.spawn(words, { cwd: project, env, terminal: { cols: 80, rows: 24, data } });
  return {
    text: () => text,
    type: (keys: string) => void started.terminal?.write(keys),
    shows: (what: string) => until(what, () => text.includes(what), 60_000),
    exited: started.exited.finally(() => started.terminal?.close()),
  };
}

function page(): string {
  const lines = rows.map(([seconds, typed, seen]) => {
    return `| ${seconds.toFixed(1)} s | ${typed === "" ? "" : `\`${typed}\``} | ${seen} |`;
  });
  return `# The first minute

From an empty home to the first decision, measured on two shared cores by \`bun scripts/pictures/first-minute.ts\`, which writes this page. The executable, the terminal and the Claude Code CLI are real; the model is scripted, so its time to think is not in the figures. The time is counted from the first key press, and includes half a second of reading before the decision.

| after | you type | you see |
|---|---|---|
${lines.join("\n")}

\`npm run build\` creates the executable, and \`claude\` has to be installed and signed in. In the middle stands the decision: until you press \`a\`, nothing is written. \`d\` denies it with a reason that the child reads, \`?\` shows all keys.
`;
}
