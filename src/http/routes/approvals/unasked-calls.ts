import type { App } from "../../../app.ts";
import { listUnaskedCalls } from "../../../contract/routes/unasked-calls.ts";
import { APPROVAL_ID, ASKED_AT, INPUT, SESSION_ID, TOOL_USE_ID, TURN_ID } from "../../../contract/samples.ts";
import { type Served, serve } from "../../serve.ts";
import { lastPage, pageOf } from "../paging.ts";

export type UnaskedCallsApp = Pick<App, "unaskedCalls">;

export function unaskedCallRoutes({ unaskedCalls }: UnaskedCallsApp): Served[] {
  return [
    serve(listUnaskedCalls, {
      tag: "Approvals",
      summary: "Lists calls that ran although Plexus had not allowed them, newest first",
      details:
        "In `inherit` they are expected. In `strict` and `default` there should be none: the seal of a child is broken.",
      answer: {
        says: "A page of them.",
        example: {
          type: "ok",
          calls: [
            {
              id: APPROVAL_ID,
              session_id: SESSION_ID,
              session_name: "worker",
              turn_id: TURN_ID,
              tool_name: "Bash",
              tool_use_id: TOOL_USE_ID,
              tool_input: INPUT,
              supervision: "inherit",
              at: ASKED_AT,
            },
          ],
          ...lastPage,
        },
      },
    }).by(async ({ principal, query }) => {
      const { session_id: sessionId, turn_id: turnId, ...rest } = query;
      const found = await unaskedCalls.list(principal, { sessionId, turnId, ...rest });
      return { type: "ok", calls: found.calls, ...pageOf(found) };
    }),
  ];
}
