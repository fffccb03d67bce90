import type { TurnEvent } from "../../src/contract/sessions/turn.ts";
import type { Random } from "../../tests/support/random.ts";
import { eventsOf, textOf } from "../../tests/support/sessions/told-events.ts";

const CALL_EVERY = 3;

/** The lines of one message as the CLI streams them: in pieces, then complete, sometimes with a call. */
export function messageOf(number: number, random: Random): string[] {
  const id = `msg_${number}`;
  const pieces = Array.from({ length: random.between(1, 6) }, (_, at) => wordOf(number, at));
  const rest = [wordOf(number, pieces.length), endOf(number)];
  const streamed = [
    { type: "message_start", message: { id } },
    ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  ].map((event) => ({ type: "stream_event", event }));
  const blocks: object[] = [{ type: "text", text: [...pieces, ...rest].join("") }];
  if (number % CALL_EVERY === 0) blocks.push({ type: "tool_use", id: `toolu_${number}`, name: "Bash", input: {} });
  const whole = blocks.map((block) => ({ type: "assistant", message: { id, content: [block] } }));
  return [...streamed, ...whole].map((line) => JSON.stringify(line));
}

/** Returns the errors in the events of a turn in which a child has counted up to `count`. */
export function miscounts(events: TurnEvent[], count: number): string[] {
  const said = textOf(events).split("\n").slice(0, -1);
  const calls = eventsOf(events, "tool_use").map(({ tool_use_id }) => tool_use_id);
  const wrong = said.flatMap((message, number) => (isWhole(message, number) ? [] : [`message ${number}: ${message}`]));
  const wanted = Array.from({ length: Math.ceil(count / CALL_EVERY) }, (_, at) => `toolu_${at * CALL_EVERY}`);
  return [
    ...wrong.slice(0, 3),
    ...(said.length === count ? [] : [`${said.length} messages instead of ${count}`]),
    ...(Bun.deepEquals(calls, wanted) ? [] : [`the calls are ${calls.join(" ")}`]),
  ];
}

/** Returns whether the message has every word once and in order. */
function isWhole(message: string, number: number): boolean {
  const words = message.split(" ").length - 1;
  return message === Array.from({ length: words }, (_, at) => wordOf(number, at)).join("") + endOf(number).trimEnd();
}

function wordOf(number: number, at: number): string {
  return `${number}.${at} `;
}

function endOf(number: number): string {
  return `end-of-${number}\n`;
}
