import { z } from "zod";

/** What the file that a call would change holds now. */
export const FileNow = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("text"), path: z.string(), text: z.string() }),
  z.strictObject({ state: z.literal("absent"), path: z.string() }),
  z.strictObject({ state: z.literal("unshown"), path: z.string(), reason: z.string() }),
]);
export type FileNow = z.infer<typeof FileNow>;

/** What helps to judge a call, beside its input. */
export const ApprovalContext = z.strictObject({
  /** `null` for a claude that was started by hand: where, only it knows. */
  working_dir: z.string().nullable(),
  /** `null` when the call changes no file, or was decided before. */
  file: FileNow.nullable(),
});
export type ApprovalContext = z.infer<typeof ApprovalContext>;
