import type { JsonObject } from "../../src/contract/values.ts";
import type { Random } from "../../tests/support/random.ts";
import { expectKilled, type Setup } from "../crash/setup.ts";
import type { Life } from "../crash/victim.ts";
import { request } from "../crash/wire.ts";
import type { Ask } from "../ledger/ledger.ts";
import type { ChildConfig } from "./parents.ts";
import { approvalOf, createPermitStreams, type Heard, type Way } from "./permit-stream.ts";

/**
 * A child's behaviour: its number of parallel lanes, of requests per lane, its time between requests, and how often it
 * disconnects.
 */
export type Habits = { lanes: number; asks: [least: number, most: number]; workMs: number; hangsUp: number };
/** Sends the next request as soon as it has an answer, and stays connected until the server dies. */
export const EAGER: Habits = { lanes: 2, asks: [10, 60], workMs: 0, hangsUp: 0 };

const LOOK_UP_MS = 200;
const HANGS_UP_WITHIN_MS = 60;
/** One in this many requests is left to time out. */
const LEFT_OF = 80;
const PROTOCOL = "2025-11-25";
const HEADERS = { accept: "application/json, text/event-stream", "mcp-protocol-version": PROTOCOL };

/**
 * Acts as a child towards the server: the CLI's handshake, then requests on several lanes, until it has made enough.
 */
export async function liveAsChild(
  setup: Setup,
  config: ChildConfig,
  random: Random,
  isOver: () => boolean,
  habits: Habits = EAGER,
) {
  const { victim, ledger, verdicts, disk } = setup;
  const hear = createPermitStreams(setup, send);
  let rpcId = 0;
  let asksLeft = random.between(...habits.asks);
  await shakeHands();
  await Promise.all(Array.from({ length: habits.lanes }, (_, lane) => askOn(random.of(`lane ${lane}`), lane)));

  async function askOn(own: Random, lane: number): Promise<void> {
    while (asksLeft-- > 0) {
      await work(own.next() * 2 * habits.workMs);
      const toolUseId = `toolu_${config.sessionId.slice(-12)}_${lane}_${asksLeft}`;
      // The last request is also left to time out. Nobody kills the server any more, so it waits long.
      const isLast = isOver();
      const isLeft = ++ledger.figures.asks % LEFT_OF === 0 || isLast;
      await ask(newAsk(config.sessionId, toolUseId, isLeft, own), own);
      if (isLast) return;
    }
  }

  /** Waits between requests, as a working child would; cut short when everything is over. */
  async function work(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until && !isOver()) await Bun.sleep(Math.min(LOOK_UP_MS, until - performance.now()));
  }

  /** Makes a request, and reconnects whenever the server dies or the connection breaks, until there is an answer. */
  async function ask(asked: Ask, own: Random): Promise<void> {
    const id = ++rpcId;
    let eventId: string | undefined;
    for (;;) {
      const life = await victim.up();
      if (eventId !== undefined && own.chance(0.2)) await makeOtherCalls(life, own.between(1, 8));
      const ways: Way[] = eventId === undefined ? ["call"] : waysBack(own);
      const leave = own.chance(habits.hangsUp) ? AbortSignal.timeout(own.between(1, HANGS_UP_WITHIN_MS)) : undefined;
      const heard = await Promise.all(ways.map((way) => hear(life, way, { id, asked, eventId }, leave)));
      checkAttached(asked, eventId, heard);
      // If the decision was used up, a repeated request is a new one, which the child now waits for.
      const answered = heard.findLast(({ answer }) => answer !== undefined && !isForAnother(answer));
      eventId = answered?.eventId ?? heard.findLast((one) => one.eventId)?.eventId ?? eventId;
      if (answered?.answer && eventId !== undefined) return finish(life, asked, id, eventId, answered.answer, own);
      if (!life.isOver && leave?.aborted) {
        ledger.figures["asks hung up on"]++;
        continue;
      }
      if (!life.isOver) return;
      // The CLI gives up a request without an event id, and may itself die at any time.
      if (own.chance(eventId === undefined ? 0.5 : 0.02)) return void ledger.figures["asks given up"]++;
    }
  }

  async function finish(life: Life, asked: Ask, id: number, eventId: string, answer: JsonObject, own: Random) {
    const approvalId = approvalOf(eventId);
    ledger.answered({ approvalId, ask: asked, answer });
    if (answer["behavior"] === "allow" && !life.isOver) {
      const status = disk.row(approvalId)?.status;
      verdicts.check(
        "allowed",
        status === "allowed",
        () => `${approvalId} is ${status} on disk, its child was told allow`,
      );
    }
    if (life.isOver || !own.chance(0.1)) return;
    ledger.figures["asked again when answered"]++;
    const again = await hear(life, own.pick(["resume", "repeat"]), { id, asked, eventId });
    checkAttached(asked, eventId, [{ eventId, answer }, again]);
  }

  /** Checks that every connection attaches to the same approval, or to a new one if the decision on it was used up. */
  function checkAttached(asked: Ask, before: string | undefined, heard: Heard[]): void {
    const known = before === undefined ? undefined : approvalOf(before);
    const answers = new Map<string, JsonObject>();
    const isRight = heard.every(({ eventId, answer }) => {
      if (eventId === undefined) return true;
      const id = approvalOf(eventId);
      if (known !== undefined && id !== known && disk.row(known)?.delivered_at === null) return false;
      if (answer === undefined || isForAnother(answer)) return true;
      const first = answers.get(id) ?? answer;
      answers.set(id, first);
      return Bun.deepEquals(first, answer);
    });
    verdicts.check("attached", isRight, () => `${asked.toolUseId} was ${before}, then ${JSON.stringify(heard)}`);
  }

  /** Makes other calls while the answer waits. */
  async function makeOtherCalls(life: Life, calls: number): Promise<void> {
    for (let call = 0; call < calls && !life.isOver; call++) await perhaps(life, { method: "tools/list", id: ++rpcId });
  }

  async function shakeHands(): Promise<void> {
    const clientInfo = { name: "claude-code", version: "2.1.325" };
    const params = { protocolVersion: PROTOCOL, capabilities: { roots: {} }, clientInfo };
    for (;;) {
      const life = await victim.up();
      const isDone =
        (await perhaps(life, { method: "initialize", id: ++rpcId, params })) === 200 &&
        (await perhaps(life, { method: "notifications/initialized" })) === 202 &&
        (await perhaps(life, undefined)) === 405 &&
        (await perhaps(life, { method: "tools/list", id: ++rpcId })) === 200;
      verdicts.check("sessions", isDone || life.isOver, () => `the child of ${config.sessionId} could not connect`);
      if (isDone || !life.isOver) return;
    }
  }

  /** Returns the status of the complete answer; undefined if the server died. */
  async function perhaps(life: Life, message: object | undefined): Promise<number | undefined> {
    try {
      return await life.during(async () => {
        const response = await send(message && { jsonrpc: "2.0", ...message });
        await response.text();
        return response.status;
      });
    } catch (cause) {
      expectKilled(setup, life, "a child's request", cause);
      return undefined;
    }
  }

  function send(body?: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    const { token } = config;
    return request(`${victim.url}/mcp`, { token, signal, headers: { ...HEADERS, ...headers }, ...(body && { body }) });
  }
}

/** Returns whether the answer says that another connection got the allow. */
function isForAnother(answer: JsonObject): boolean {
  return answer["behavior"] === "deny" && String(answer["message"]).includes("another connection");
}

function newAsk(sessionId: string, toolUseId: string, isLeft: boolean, random: Random): Ask {
  const padding = random.chance(0.02) ? { padding: "ä".repeat(6_000) } : {};
  const input = { command: `touch ${toolUseId}`, description: "„Grüße“ 🙂", ...(isLeft && { left: true }), ...padding };
  return { sessionId, toolUseId, input, isLeft };
}

function waysBack(random: Random): Way[] {
  return random.pick([["resume"], ["resume"], ["resume"], ["repeat"], ["repeat"], ["resume", "repeat"]]);
}
