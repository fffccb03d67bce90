import type { JsonObject } from "../../contract/values.ts";
import type { WithheldFiles } from "./withheld-files.ts";

export type ToolCall = { toolName: string; input: JsonObject };

/** What decides what a child may do on this host without asking; all paths are absolute. */
export type ChildContext = {
  supervision: "strict" | "default";
  workingDir: string;
  addDirs: string[];
  /** Files and directories that are never read, by whatever path: the data dir, settings in HOME, token files. */
  privatePaths: string[];
  home: string;
  /** The child's PATH, if known: while it contains one of the child's directories, no command is proven harmless. */
  path?: string;
  /** What rules keep from being read, besides the private paths. */
  withheld?: WithheldFiles;
};
