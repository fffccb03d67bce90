import { z } from "zod";
import { CutObject } from "../cut.ts";
import { SessionCreated, SessionDeleted, SessionForked } from "../sessions/answers.ts";
import { SessionDetail, SessionSummary } from "../sessions/session-view.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;

export const CreateAnswer = SessionCreated.extend({ next }).strict();

export const ListAnswer = z.strictObject({
  type: z.literal("ok"),
  sessions: z.array(SessionSummary.pick({ id: true, name: true, status: true, working_dir: true, created_at: true })),
  has_more: z.boolean(),
});

export const SessionAnswer = z.strictObject({ type: z.literal("ok"), config: SessionDetail.or(CutObject) });

export const ForkAnswer = SessionForked.extend({ next }).strict();

export const DeleteAnswer = SessionDeleted.strict();
