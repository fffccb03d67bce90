import { z } from "zod";

/** The current content of the file that a call would change. */
export const CurrentFile = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("text"), path: z.string(), text: z.string() }),
  z.strictObject({ state: z.literal("absent"), path: z.string() }),
  z.strictObject({ state: z.literal("unshown"), path: z.string(), reason: z.string() }),
]);
export type CurrentFile = z.infer<typeof CurrentFile>;

/** The text that a skill gives to the model, and the path of its file. */
export const SkillText = z.strictObject({ path: z.string(), text: z.string() });
export type SkillText = z.infer<typeof SkillText>;

/** A path that a command names, in full, and where it really leads; `null` where that can't be known. */
export const PathLink = z.strictObject({ path: z.string(), real: z.string().nullable() });
export type PathLink = z.infer<typeof PathLink>;

/** What helps to review a call, besides its input. */
export const ApprovalContext = z.strictObject({
  /** `null` for a claude that was started by hand: its directory is not known. */
  working_dir: z.string().nullable(),
  /** `null` when the call changes no file, is decided already, or runs in a directory that is not known. */
  file: CurrentFile.nullable(),
  /** Where the path in the call really leads, with links followed; `null` if it has none or it can't be followed. */
  real_path: z.string().nullable(),
  /** The paths in the call's command that lead elsewhere through links, or may; left out where none does. */
  links: z.array(PathLink).optional(),
  /** The plan with which ExitPlanMode would leave plan mode. */
  plan: z.string().nullable(),
  /** The skill that a call of Skill would load; `null` if it was not found. */
  skill: SkillText.nullable(),
  /** The prompt of the turn that asks, cut where it is long; left out where it is not known. */
  task: z.string().optional(),
});
export type ApprovalContext = z.infer<typeof ApprovalContext>;
