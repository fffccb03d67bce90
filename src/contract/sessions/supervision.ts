import { z } from "zod";

/** How much a child may do without a decision. */
export const Supervision = z.enum(["strict", "default", "inherit"]);
export type Supervision = z.infer<typeof Supervision>;

/** The meaning of each value, shown wherever it can be chosen. */
export const SUPERVISION_MEANING: Record<Supervision, string> = {
  strict: "somebody decides every call, except reading and searching files in the child's directories",
  default: "like strict, except that commands which are proven to only read there run too",
  inherit: "your own and the project's Claude Code settings decide what is asked; this trusts the project",
};
