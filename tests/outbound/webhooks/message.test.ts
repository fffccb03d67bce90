import { expect, test } from "bun:test";
import { messageOf } from "../../../src/outbound/webhooks/message.ts";

test("the message on the end of a turn leads to that turn on the page", () => {
  const event = {
    type: "turn_ended" as const,
    session_id: "s 1",
    session_name: "builder",
    turn_id: "t1",
    ephemeral: false,
    started_at: 0,
    status: "failed" as const,
    error: "No",
    usage: null,
    ended_at: 1,
  };
  const { links } = messageOf({ event, pageUrl: "http://plexus", now: 0 });
  expect(links).toEqual([{ label: "Open", url: "http://plexus/#/sessions/s%201/turns/t1" }]);
});
