import { expect, test } from "bun:test";
import { byAttention } from "../../src/client/session-list.ts";
import type { SessionSummary } from "../../src/contract/sessions/session-view.ts";

const session = (name: string, status: SessionSummary["status"], last_activity_at: number, pending = 0) =>
  ({ name, status, last_activity_at, pending }) as SessionSummary;

test("sessions that need a person come first, then ongoing ones, failed ones, and others by last activity", () => {
  const sessions = [
    session("old", "complete", 1),
    session("failed", "failed", 2),
    session("idle", "idle", 9),
    session("queued", "queued", 3),
    session("by hand, asks", "idle", 1, 2),
    session("runs", "running", 4),
    session("asks", "awaiting_permission", 5, 1),
  ];
  expect(sessions.toSorted(byAttention).map(({ name }) => name)).toEqual([
    "asks",
    "by hand, asks",
    "runs",
    "queued",
    "failed",
    "idle",
    "old",
  ]);
});
