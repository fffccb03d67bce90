import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createRandom, type Random } from "../../tests/support/random.ts";

const RECORDING = join(import.meta.dir, "../../tests/claude/output/recordings/2.1.325.jsonl");
const MEGABYTE = 1024 * 1024;
const WORDS = readFileSync(RECORDING, "utf8").match(/[A-Za-z'.,:]{2,}/g) ?? [];
/** The sizes of rare long results in characters; most results are a screen, some are a file or a whole log. */
const LONG_RESULTS = new Map([
  [100, 4_000_000],
  [300, 1_000_000],
  [500, 200_000],
]);
const LONG_EVERY = 600;

const Line = z.record(z.string(), z.unknown());
type Line = z.infer<typeof Line>;

/** The lines of a recorded turn; the text is replaced, the structure is kept. */
const RECORDED = readFileSync(RECORDING, "utf8").split("\n");
const INIT = template('"subtype":"init"');
const REQUESTING = template('"status":"requesting"');
const MESSAGE_START = template('"message_start"');
const MESSAGE_STOP = template('"message_stop"');
const DELTA = template('"text_delta"');
const ASSISTANT = template('"type":"assistant"');
const TOOL_RESULT = template('"tool_use_result":{"stdout"');
const RESULT = template('"type":"result"');

/** The first line, of a child that has connected to Plexus. */
export function initLine(): string {
  return text({ ...INIT, mcp_servers: [{ name: "plexus", status: "connected" }] });
}

/** The last line. */
export function resultLine(): string {
  return text(RESULT);
}

/**
 * Writes a transcript of long work as Claude Code writes it, the same one for the same size. Returns the number of its
 * calls.
 */
export function writeTranscript(path: string, bytes: number): number {
  const random = createRandom("transcript");
  const fd = openSync(path, "w", 0o600);
  writeFileSync(fd, initLine());
  let calls = 0;
  for (let written = 0; written < bytes; ) {
    let held = "";
    while (held.length < MEGABYTE) held += message(random, calls++);
    writeFileSync(fd, held);
    written += held.length;
  }
  writeFileSync(fd, resultLine());
  closeSync(fd);
  return calls;
}

/** A call and its result: two events. */
export function callLines(number: number): string {
  return text(toolUse(number, { command: "make test" })) + text(toolResult(number, "done"));
}

/** One message of the model, in pieces and complete, and the result of its call. */
function message(random: Random, number: number): string {
  const id = `msg_${String(number).padStart(24, "0")}`;
  const said = Array.from({ length: random.between(5, 60) }, () => words(random, random.between(1, 4)));
  const usual = random.chance(0.1) ? random.between(20_000, 50_000) : random.between(100, 6_000);
  const chars = LONG_RESULTS.get(number % LONG_EVERY) ?? usual;
  const command = words(random, random.between(5, 80));
  const pieces = JSON.stringify({ command, description: "a command" }).match(/.{1,24}/gs) ?? [];
  return [
    REQUESTING,
    { ...MESSAGE_START, event: { type: "message_start", message: { id, role: "assistant", content: [] } } },
    ...said.map((piece) => delta(0, { type: "text_delta", text: piece })),
    content(id, { type: "text", text: said.join("") }),
    ...pieces.map((piece) => delta(1, { type: "input_json_delta", partial_json: piece })),
    toolUse(number, { command, description: "a command" }, id),
    MESSAGE_STOP,
    toolResult(number, words(random, Math.ceil(chars / 6))),
  ]
    .map(text)
    .join("");
}

function delta(index: number, piece: Line): Line {
  return { ...DELTA, event: { type: "content_block_delta", index, delta: piece } };
}

function content(id: string, block: Line): Line {
  return { ...ASSISTANT, message: { ...Line.parse(ASSISTANT["message"]), id, content: [block] } };
}

function toolUse(number: number, input: Line, id = "msg_1"): Line {
  return content(id, { type: "tool_use", id: `toolu_${number}`, name: "Bash", input });
}

/** The output twice, as the CLI writes it: once for the model, once for a screen. */
function toolResult(number: number, output: string): Line {
  const block = { tool_use_id: `toolu_${number}`, type: "tool_result", content: output, is_error: false };
  const forScreen = { stdout: output, stderr: "", interrupted: false };
  return { ...TOOL_RESULT, message: { role: "user", content: [block] }, tool_use_result: forScreen };
}

function template(part: string): Line {
  return Line.parse(JSON.parse(RECORDED.find((line) => line.includes(part)) ?? ""));
}

function words(random: Random, count: number): string {
  const start = random.between(0, WORDS.length - 1);
  let text = "";
  for (let number = 0; number < count; number++) text += `${WORDS[(start + number) % WORDS.length]} `;
  // One in four texts is not plain ASCII.
  return start % 4 === 0 ? `${text}→ ünï 🙂 ` : text;
}

function text(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}
