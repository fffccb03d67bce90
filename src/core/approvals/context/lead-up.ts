import { subagentWords } from "../../../claude/output/subagent.ts";
import type { Approval } from "../../../contract/approvals/approval.ts";
import { cutText } from "../../../contract/text/cut-text.ts";
import type { Storage } from "../../../storage/storage.ts";
import type { NumberedTurnEvent, ToolUseEvent } from "../../../storage/turns.ts";

/** What a turn contains before a request of its child. */
export type LeadUp = {
  /**
   * The last words of the speaker that makes the call, the child or a subagent: those in the same message, or if there
   * are none, the last ones before it.
   */
  said?: string;
  /** The subagent that makes the call. */
  agent?: string;
  /** The plan that ExitPlanMode presents; the CLI leaves it out of the permission request. */
  plan?: string;
};

/** A message may have many calls, each followed by its request, decision and result. */
const EVENTS_BEFORE = 250;
/** The CLI may write the line of a call after it requests permission. */
const EVENTS_AFTER = 20;
const MAX_EVENT_BYTES = 64 * 1024;
const MAX_SAID_CHARS = 300;
const SOME_SUBAGENT = "a subagent";

/** Finds what a child said before a request, within as many events as one message may have. */
export function createLeadUps({ storage }: { storage: Pick<Storage, "approvals" | "turns"> }) {
  return async ({ id, tool_use_id }: Pick<Approval, "id" | "tool_use_id">): Promise<LeadUp> => {
    const asked = await storage.approvals.head(id);
    if (!asked || asked.askedSeq === null || tool_use_id === null) return {};
    const { askedIn, askedSeq } = asked;
    const range = { from: Math.max(0, askedSeq - EVENTS_BEFORE), to: askedSeq + EVENTS_AFTER };
    const events = await storage.turns.shortEvents(askedIn, { ...range, maxBytes: MAX_EVENT_BYTES });
    // Without the call the speaker is unknown, and another speaker's words would mislead.
    const found = callIn(events, tool_use_id, askedSeq);
    if (!found) return {};
    const { call, seq } = found;
    const said = wordsBefore(events, seq, call.parent_tool_use_id);
    const agent = call.agent ?? (call.parent_tool_use_id === undefined ? undefined : SOME_SUBAGENT);
    const plan = call.tool_name === "ExitPlanMode" ? call.input["plan"] : undefined;
    return {
      ...(said !== "" && { said: cutText(said, MAX_SAID_CHARS) }),
      ...(agent !== undefined && { agent }),
      ...(typeof plan === "string" && { plan }),
    };
  };
}

/** The newest call with this id before the request, else the first one after it: a gateway may reuse ids. */
function callIn(events: NumberedTurnEvent[], toolUseId: string, askedSeq: number) {
  const calls = events.flatMap(({ seq, event }): { seq: number; call: ToolUseEvent }[] =>
    event.type === "tool_use" && event.tool_use_id === toolUseId ? [{ seq, call: event }] : [],
  );
  return calls.findLast(({ seq }) => seq < askedSeq) ?? calls[0];
}

/** The speaker's last words: everything since its previous call or tool result, as far as `events` reaches. */
function wordsBefore(events: NumberedTurnEvent[], callSeq: number, parent: string | undefined): string {
  const words: string[] = [];
  const isOthers = (event: NumberedTurnEvent["event"]) =>
    event.type === "tool_use" && event.parent_tool_use_id !== parent;
  const ofOthers = new Set(events.flatMap(({ event }) => (isOthers(event) ? callIdOf(event) : [])));
  for (const { event } of events.filter(({ seq }) => seq < callSeq).reverse()) {
    const isOwn = callIdOf(event).some((id) => !ofOthers.has(id));
    if (words.length > 0 && isOwn) break;
    const text = wordsIn(event, parent);
    if (text !== undefined) words.push(text);
  }
  return words.reverse().join("").trim();
}

/** The call id of a tool_use or tool_result event. */
function callIdOf(event: NumberedTurnEvent["event"]): string[] {
  return event.type === "tool_use" || event.type === "tool_result" ? [event.tool_use_id] : [];
}

function wordsIn(event: NumberedTurnEvent["event"], parent: string | undefined): string | undefined {
  if (parent === undefined) return event.type === "content" ? event.text : undefined;
  const below = event.type === "passthrough" ? subagentWords(event.event_type, event.data) : undefined;
  return below?.parent === parent ? below.text : undefined;
}
