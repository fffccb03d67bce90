import { z } from "zod";
import { CutObject } from "../cut.ts";
import { LeftRunning } from "../sessions/left-running.ts";
import { SessionDetail, SessionSummary } from "../sessions/session-view.ts";
import { Id } from "../values.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;
const { head } = SessionDetail.shape;

export const CreateAnswer = z.strictObject({ type: z.literal("created"), id: Id, name: z.string(), head, next });

export const ListAnswer = z.strictObject({
  type: z.literal("ok"),
  sessions: z.array(SessionSummary.pick({ id: true, name: true, status: true, working_dir: true, created_at: true })),
  has_more: z.boolean(),
});

export const SessionAnswer = z.strictObject({ type: z.literal("ok"), config: SessionDetail.or(CutObject) });

export const ForkAnswer = z.strictObject({ type: z.literal("forked"), id: Id, head, next });

export const DeleteAnswer = z.strictObject({
  type: z.literal("deleted"),
  id: Id,
  left_running: z.array(LeftRunning).optional(),
});
