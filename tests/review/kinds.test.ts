import { expect, test } from "bun:test";
import { requestLines } from "../../src/cli/watch/request-lines.ts";
import { approvalFromEvent } from "../../src/review/approval-event.ts";
import { kindOf, summaryOf } from "../../src/review/kinds.ts";
import { requested } from "./requested.ts";

const REMOVED = "(the input was removed to save space)";

test.each(["Bash", "Write", "ExitPlanMode", "mcp__x__y"])(
  "summaryOf and watch show only that the input of %s was removed",
  (tool) => {
    const approval = { ...requested(tool, {}), input_removed_at: 1_700_000_000 };
    expect(kindOf(approval)).toEqual({ kind: "removed" });
    expect(summaryOf(approval)).toBe(REMOVED);
    const lines = requestLines({ approval, context: undefined, dangers: [] }, 80);
    expect(lines.map((line) => line.map(({ text }) => text).join(""))).toEqual([`│ ${REMOVED}`]);
  },
);

test("approvalFromEvent keeps the time when the input was removed", () => {
  const { id: approval_id, session_id, session_name, tool_name, tool_use_id } = requested("Bash", {});
  const event = {
    type: "approval_requested",
    ...{ approval_id, session_id, session_name, tool_name, tool_use_id, tool_input: {} },
    ...{ created_at: 1, expires_at: 2, input_removed_at: 3 },
  } as const;
  expect(summaryOf(approvalFromEvent(event))).toBe(REMOVED);
});
