import type { App } from "../../../app.ts";
import { waitForNext } from "../../../contract/routes/wait.ts";
import { PENDING, SESSION_ID } from "../../../contract/samples.ts";
import { refuseRevoked } from "../../middleware/auth.ts";
import { type Served, serve } from "../../serve.ts";
import { allowSilence } from "../../streams/silence.ts";

export type WaitApp = Pick<App, "approvalViews" | "eventFeed" | "sessions">;

const DEFAULT_WAIT_SECS = 45;
const MAX_LISTED = 100;

/** `loopback_wait` for callers without MCP; `closing` fires when the server stops, which ends every wait. */
export function waitRoutes({ approvalViews, eventFeed, sessions }: WaitApp, closing: AbortSignal): Served[] {
  return [
    serve(waitForNext, {
      tag: "Events",
      summary: "Waits until something needs approval, or a turn has ended",
      details:
        "Goes on where this caller (the token, and its `consumer`) was last told, so that no end is lost between two calls. " +
        "`timeout`: nothing came within `timeout_secs`. `idle`, at once: nothing runs, is pending, or could ask.",
      body: { timeout_secs: 110, consumer: "nightly" },
      answer: {
        says: "What there is to do, or that there is nothing.",
        example: {
          type: "ok",
          approvals: [PENDING],
          finished: [],
          running: [{ session_id: SESSION_ID, name: "tester", status: "running", silent_secs: 4 }],
          has_more: false,
          cursor: 7,
        },
      },
      errors: ["not_found"],
    }).by(async ({ principal, caller, body, c }) => {
      const { session_id, since, timeout_secs, skip, consumer } = body;
      const sessionId = session_id === undefined ? undefined : (await sessions.require(principal, session_id)).id;
      allowSilence(c);
      const waited = await eventFeed.wait(principal, {
        reader: { consumer },
        sessionId,
        since,
        skip,
        timeoutMs: (timeout_secs ?? DEFAULT_WAIT_SECS) * 1000,
        limit: MAX_LISTED,
        signal: AbortSignal.any([c.req.raw.signal, caller.revoked]),
        stopping: closing,
      });
      refuseRevoked(caller);
      return waited.type === "ok"
        ? { ...waited, approvals: await approvalViews.showEach(waited.approvals, principal) }
        : waited;
    }),
  ];
}
