import type { ChangeEvent } from "../../contract/change.ts";
import { pageAddress } from "../../contract/page-address.ts";
import { duration } from "../../contract/text/duration.ts";
import { oneLine } from "../../contract/text/one-line.ts";
import { visibleLines, visibleText } from "../../contract/text/visible-text.ts";
import { seconds } from "../../contract/values.ts";
import type { ToldKind } from "../../contract/webhook.ts";
import { summaryOf } from "../../review/kinds.ts";

/** An event that webhooks may report to people. */
export type ToldEvent = ChangeEvent & { type: ToldKind };

/** A link in a message. */
export type MessageLink = { label: string; url: string };

/**
 * A message to a person in a chat. Everything except the headline may be text from a child: each format escapes it in
 * its own way.
 */
export type Message = {
  /** Our own words. */
  headline: string;
  session: string;
  tool: string | undefined;
  /** The call that needs approval, or the failure. */
  text: string;
  /** Why allowing the call needs a second press. */
  dangers: string[];
  cwd: string | undefined;
  /** When the request is denied by timeout, in Unix seconds. */
  expiresAt: number | undefined;
  /** The time left until then. */
  expiresIn: string | undefined;
  urgency: "normal" | "high" | "highest";
  links: MessageLink[];
};

type MessageNeed = {
  event: ToldEvent;
  /** The address of the page. */
  pageUrl: string;
  /** The link with which the reader may decide. */
  decideUrl?: string | undefined;
  now: number;
};

const NOTHING = { tool: undefined, dangers: [], cwd: undefined, expiresAt: undefined, expiresIn: undefined };
const MAX_NAME = 120;
const MAX_DANGER = 200;
const MAX_CWD = 200;

/** Describes the event as a message. */
export function messageOf({ event, pageUrl, decideUrl, now }: MessageNeed): Message {
  const to = (label: string, address: string): MessageLink[] => [{ label, url: `${pageUrl}/${address}` }];
  const session = shortLine(event.session_name, MAX_NAME);
  switch (event.type) {
    case "approval_requested":
      return {
        ...NOTHING,
        headline: "Needs approval",
        session,
        tool: shortLine(event.tool_name, MAX_NAME),
        text: visibleLines(summaryOf({ ...event, input: event.tool_input })),
        dangers: (event.dangers ?? []).map(({ text }) => shortLine(text, MAX_DANGER)),
        cwd: event.cwd === undefined ? undefined : shortLine(event.cwd, MAX_CWD),
        expiresAt: event.expires_at,
        expiresIn: duration(event.expires_at - seconds(now)),
        urgency: event.dangers ? "highest" : "high",
        links: [
          ...(decideUrl === undefined ? [] : [{ label: "Decide", url: decideUrl }]),
          ...to("Open", pageAddress.request(event.approval_id)),
        ],
      };
    case "approval_resolved":
      return {
        ...NOTHING,
        headline: `${RESOLVED[event.status]} by`,
        session,
        tool: shortLine(event.tool_name, MAX_NAME),
        text: visibleLines([event.resolved_by, event.response_message ?? ""].filter(Boolean).join(": ")),
        urgency: "normal",
        links: to("Open", pageAddress.decision(event.approval_id)),
      };
    case "unasked_call":
      return {
        ...NOTHING,
        headline: "Ran a call that Plexus had not allowed",
        session,
        tool: shortLine(event.tool_name, MAX_NAME),
        text: visibleLines(summaryOf({ ...event, input: event.tool_input })),
        urgency: "highest",
        links: to("Open", addressOf(event)),
      };
    case "turn_ended":
      return {
        ...NOTHING,
        headline: ENDED[event.status],
        session,
        text: visibleLines(event.error ?? ""),
        urgency: event.status === "failed" ? "high" : "normal",
        links: to("Open", addressOf(event)),
      };
  }
}

/** The page shows the turn itself, not the end of its session. */
function addressOf({ session_id, turn_id }: { session_id: string; turn_id: string }): string {
  return pageAddress.turn(session_id, { id: turn_id, seq: 0 });
}

/** The message that tests whether messages arrive. */
export function testMessage(pageUrl: string): Message {
  return {
    ...NOTHING,
    headline: "Test message",
    session: "Plexus",
    text: "What needs approval is told here.",
    urgency: "normal",
    links: [{ label: "Open", url: `${pageUrl}/${pageAddress.settings}` }],
  };
}

const RESOLVED = {
  pending: "Pending",
  allowed: "Allowed",
  denied: "Denied",
  timed_out: "Timed out",
  abandoned: "Given up",
} as const;

const ENDED = { complete: "Turn complete", failed: "Turn failed", cancelled: "Turn cancelled" } as const;

function shortLine(text: string, limit: number): string {
  return oneLine(visibleText(text), limit);
}

/** The UTC time of day at which a request is denied, for services that can't show it in the reader's own time zone. */
export function timeOfDay(unixSeconds: number): string {
  return `${new Date(unixSeconds * 1000).toISOString().slice(11, 16)} UTC`;
}
