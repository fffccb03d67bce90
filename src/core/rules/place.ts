import type { JsonObject } from "../../contract/values.ts";

export type ToolCall = { toolName: string; input: JsonObject };

/** Where a child works, on this host. All paths absolute. */
export type Place = {
  supervision: "strict" | "default";
  workingDir: string;
  addDirs: string[];
  /** Never read, by whatever path: files or whole directories (data dir, HOME's settings, token files). */
  privatePaths: string[];
  home: string;
  /** The child's PATH, where it is known: no command is proven while a directory that the child works in is on it. */
  path?: string;
};
