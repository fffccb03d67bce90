import { z } from "zod";

/** What the file that a call would change holds now. */
export const FileNow = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("text"), path: z.string(), text: z.string() }),
  z.strictObject({ state: z.literal("absent"), path: z.string() }),
  z.strictObject({ state: z.literal("unshown"), path: z.string(), reason: z.string() }),
]);
export type FileNow = z.infer<typeof FileNow>;

/** What a skill tells the model, and where that stands. */
export const SkillText = z.strictObject({ path: z.string(), text: z.string() });
export type SkillText = z.infer<typeof SkillText>;

/** What helps to judge a call, beside its input. */
export const ApprovalContext = z.strictObject({
  /** `null` for a claude that was started by hand: where, only it knows. */
  working_dir: z.string().nullable(),
  /** `null` when the call changes no file, was decided before, or runs where only its claude knows. */
  file: FileNow.nullable(),
  /** Where the path that the call names really leads, links followed; `null` when it names none, or that can't be told. */
  real_path: z.string().nullable(),
  /** The plan that ExitPlanMode asks to leave plan mode with. */
  plan: z.string().nullable(),
  /** The skill that a call of Skill would load; `null` where it was not found. */
  skill: SkillText.nullable(),
});
export type ApprovalContext = z.infer<typeof ApprovalContext>;
