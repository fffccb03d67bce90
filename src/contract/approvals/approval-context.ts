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

/**
 * The absolute form of a path in a command, and its real path with links followed; `null` if that can't be determined.
 */
export const PathLink = z.strictObject({ path: z.string(), real: z.string().nullable() });
export type PathLink = z.infer<typeof PathLink>;

/** Context for reviewing a call, in addition to its input. */
export const ApprovalContext = z.strictObject({
  /** `null` for a claude that was started by hand: its directory is not known. */
  working_dir: z.string().nullable(),
  /** `null` if the call changes no file, is already decided, or runs in an unknown directory. */
  file: CurrentFile.nullable(),
  /** The call's path with links followed; `null` if it names no path or the path can't be resolved. */
  real_path: z.string().nullable(),
  /** The paths in the call's command that lead, or may lead, elsewhere through links; absent if there are none. */
  links: z.array(PathLink).optional(),
  /** The plan with which ExitPlanMode would leave plan mode. */
  plan: z.string().nullable(),
  /** The skill that a call of Skill would load; `null` if it was not found. */
  skill: SkillText.nullable(),
  /** The prompt of the requesting turn, shortened if it is long; absent if it is unknown. */
  task: z.string().optional(),
});
export type ApprovalContext = z.infer<typeof ApprovalContext>;
