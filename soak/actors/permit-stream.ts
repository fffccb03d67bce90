import { z } from "zod";
import { JsonObject } from "../../src/contract/values.ts";
import { expectKilled, type Setup } from "../crash/setup.ts";
import type { Life } from "../crash/victim.ts";
import { eventsOf, type WireEvent } from "../crash/wire.ts";
import type { Ask } from "../ledger/ledger.ts";

const RETRY_MS = "10000";
/** A generous limit; a few are normal, because deciders and children are answered at the same time. */
const MOST_DECIDED_SINCE = 40;

const Message = z.object({
  id: z.int().optional(),
  method: z.string().optional(),
  result: z
    .strictObject({ content: z.tuple([z.strictObject({ type: z.literal("text"), text: z.string() })]) })
    .optional(),
});
const Answer = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(JsonObject);

/** How a child connects, or reconnects, for its answer. */
export type Way = "call" | "resume" | "repeat";
/** A request as its child knows it; `eventId` is set once the child has received one. */
type Asking = { id: number; asked: Ask; eventId: string | undefined };
/** What a stream has sent before it ended. */
export type Heard = { eventId?: string; answer?: JsonObject };

/** Reads one connection of a permit, from the request to the answer or the break. */
export function createPermitStreams(
  setup: Setup,
  send: (body: object | undefined, headers?: Record<string, string>, leave?: AbortSignal) => Promise<Response>,
) {
  const { ledger, verdicts } = setup;
  return async function hear(life: Life, way: Way, asking: Asking, leave?: AbortSignal): Promise<Heard> {
    const { asked } = asking;
    const heard: Heard = {};
    let acknowledgedBefore = 0;
    if (way === "resume") ledger.figures["asks resumed"]++;
    if (way === "repeat") ledger.figures["asks repeated"]++;
    try {
      await life.during(async () => {
        const opened = open(way, asking, leave);
        ledger.happened("filing");
        const response = await opened;
        if (!response.ok) throw new Refused(`${way} got ${response.status} ${await response.text()}`);
        for await (const event of eventsOf(response)) {
          if (heard.eventId !== undefined) {
            const answer = answerIn(event, asking.id);
            if (answer) heard.answer = answer;
            continue;
          }
          heard.eventId = firstId(event);
          acknowledgedBefore = ledger.figures["decisions acknowledged"];
          ledger.told(approvalOf(heard.eventId), asked);
        }
      });
    } catch (cause) {
      // A refusal counts even if the server is killed right after it.
      if (cause instanceof Refused || cause instanceof z.ZodError || cause instanceof SyntaxError)
        verdicts.check("attached", false, () => `${asked.toolUseId}: ${cause.message}`);
      else if (!leave?.aborted) expectKilled(setup, life, way, cause);
    }
    if (heard.eventId !== undefined) checkWoken(approvalOf(heard.eventId), acknowledgedBefore);
    const isDue = heard.answer !== undefined || life.isOver || leave?.aborted === true;
    verdicts.check("answered", isDue, () => `${asked.toolUseId} got no answer to its ${way}`);
    return heard;
  };

  function open(way: Way, { id, asked, eventId }: Asking, leave: AbortSignal | undefined): Promise<Response> {
    if (way === "resume") return send(undefined, { "last-event-id": eventId ?? "" }, leave);
    return send(permitCall(id, asked, way === "repeat"), {}, leave);
  }

  /**
   * Checks that an answer does not come only after many others, counted from its decision and from when its child began
   * to listen.
   */
  function checkWoken(approvalId: string, acknowledgedBefore: number): void {
    const since = ledger.acknowledgedSince(approvalId);
    if (since === undefined) return;
    const passed = Math.min(since, ledger.figures["decisions acknowledged"] - acknowledgedBefore);
    verdicts.check("woken", passed < MOST_DECIDED_SINCE, () => `${approvalId}: ${passed} others came first`);
  }
}

export function approvalOf(eventId: string): string {
  return eventId.split("~")[0] ?? "";
}

/** The server sent an answer that is not the expected one. */
class Refused extends Error {}

function firstId({ id, retry, data }: WireEvent): string {
  if (id && retry === RETRY_MS && data === "") return id;
  throw new Refused(`the first event is ${JSON.stringify({ id, retry, data })}`);
}

/** Returns the answer in an event; progress is not one. */
function answerIn({ data }: WireEvent, id: number): JsonObject | undefined {
  const message = Message.parse(JSON.parse(data));
  if (message.method === "notifications/progress") return undefined;
  if (message.id === id && message.result) return Answer.parse(message.result.content[0].text);
  throw new Refused(`the answer to ${id} is ${data}`);
}

function permitCall(id: number, { toolUseId, input }: Ask, isReordered: boolean): object {
  // The same input with its keys in another order.
  const sent = isReordered ? Object.fromEntries(Object.entries(input).reverse()) : input;
  const args = { tool_name: "Bash", input: sent, tool_use_id: toolUseId };
  const _meta = { "claudecode/toolUseId": toolUseId, progressToken: id };
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "loopback_permit", arguments: args, _meta } };
}
