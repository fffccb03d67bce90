import { pageAddress } from "../../contract/page-address.ts";
import type { PushMessage } from "../../contract/push.ts";
import { duration } from "../../contract/text/duration.ts";
import { oneLine } from "../../contract/text/one-line.ts";
import { visibleText } from "../../contract/text/visible-text.ts";

const MAX_NAME = 80;

/** A request that needs approval. */
type Asked = { id: string; sessionName: string; toolName: string; expiresInSecs: number; dangers: number };

/** The message for one request. It leaves out the input, because a lock screen shows it to anyone. */
export function requestMessage({ id, sessionName, toolName, expiresInSecs, dangers }: Asked): PushMessage {
  return {
    title: `${short(sessionName)} needs approval`,
    body: [
      short(toolName),
      ...(dangers > 0 ? [dangers === 1 ? "1 danger" : `${dangers} dangers`] : []),
      `expires in ${duration(expiresInSecs)}`,
    ].join(" · "),
    tag: "plexus-request",
    to: pageAddress.request(id),
  };
}

/** The message for several requests. */
export function requestsMessage(count: number): PushMessage {
  return {
    title: `${count} requests need approval`,
    body: "Open Plexus to decide them",
    tag: "plexus-request",
    to: "#/inbox",
  };
}

/** The message that tests whether messages arrive. */
export function testMessage(): PushMessage {
  return {
    title: "Test message",
    body: "What needs approval is told here.",
    tag: "plexus-test",
    to: pageAddress.settings,
  };
}

function short(name: string): string {
  return oneLine(visibleText(name), MAX_NAME);
}
