import { z } from "zod";
import { SessionCreated, SessionDeleted, SessionForked, Warnings } from "../sessions/answers.ts";
import { SessionDetail, SessionSummary } from "../sessions/session-view.ts";
import { CutObject } from "../text/cut-object.ts";
import { NextStep } from "./next-step.ts";

const next = NextStep;

export const CreateAnswer = SessionCreated.extend({ next }).strict();

export const ListAnswer = z.strictObject({
  type: z.literal("ok"),
  sessions: z.array(
    SessionSummary.pick({
      id: true,
      name: true,
      status: true,
      pending: true,
      cost_usd: true,
      last_activity_at: true,
    })
      /** Absent if it is the same as the previous session's. */
      .extend({ working_dir: SessionSummary.shape.working_dir.optional() }),
  ),
  has_more: z.boolean(),
});

export const SessionAnswer = z.strictObject({ type: z.literal("ok"), config: SessionDetail.or(CutObject) });

export const UpdateAnswer = SessionAnswer.extend({ warnings: Warnings.optional(), note: NextStep.optional() });

export const ForkAnswer = SessionForked.extend({ next }).strict();

export const DeleteAnswer = SessionDeleted.strict();
