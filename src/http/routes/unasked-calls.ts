import type { App } from "../../app.ts";
import { listUnaskedCalls } from "../../contract/routes/unasked-calls.ts";
import { approval_id, session_id, turn_id } from "../openapi/example-ids.ts";
import { type Served, serve } from "../serve.ts";
import { lastPage, pageOf } from "./paging.ts";

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
              id: approval_id,
              session_id,
              session_name: "builder",
              turn_id,
              tool_name: "Bash",
              tool_use_id: "toolu_01",
              tool_input: { command: "npm test" },
              supervision: "inherit",
              at: 1787000010,
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
