import type { JsonObject } from "../../contract/values.ts";
import type { WithheldFiles } from "./withheld-files.ts";

export type ToolCall = { toolName: string; input: JsonObject };

/** The facts that decide what a child may do on this host without asking. All paths are absolute. */
export type ChildContext = {
  supervision: "strict" | "default";
  workingDir: string;
  addDirs: string[];
  /** Files and directories that no child may read by any path: the data dir, settings in HOME, token files. */
  privatePaths: string[];
  home: string;
  /** The child's PATH, if known. While it contains one of the child's directories, no command is proven harmless. */
  path?: string;
  /** The files that rules forbid to read, besides the private paths. */
  withheld?: WithheldFiles;
};
