import type { Approval } from "../contract/approvals/approval.ts";
import type { ApprovalContext } from "../contract/approvals/approval-context.ts";
import { namedPath } from "../contract/approvals/named-path.ts";
import { requestedLine } from "./requested-command.ts";
import { type Links, type PathsToFollow, pathsToFollow, realPathsIn, throughLinks } from "./shell/index.ts";

type Call = Pick<Approval, "tool_name" | "input">;

const MAX_SHOWN = 8;

/**
 * Returns the real paths of the paths in a call, on the host where it would run, if they differ from what is written.
 * Those beyond a limit are only counted.
 */
export function realPathsOf(call: Call, context: ApprovalContext | undefined): string[] {
  const paths = [...new Set([...ofTool(call, context), ...ofCommand(call, context)])];
  const more = paths.length - MAX_SHOWN;
  return more > 0 ? [...paths.slice(0, MAX_SHOWN), `(and ${more} more)`] : paths;
}

/** Returns the first paths in a call's command, up to a limit, whose links must be followed. */
export function commandPaths(call: Call, workingDir: string | null, most: number): PathsToFollow {
  const line = requestedLine(call, workingDir);
  return line ? pathsToFollow(line, most) : { changed: [], named: [] };
}

export function linksIn(context: ApprovalContext | undefined): Links {
  return new Map(context?.links?.map(({ path, real }) => [path, real]));
}

function ofTool(call: Call, context: ApprovalContext | undefined): string[] {
  const real = context?.real_path ?? undefined;
  const named = namedPath(call);
  if (real === undefined || named === undefined) return [];
  return [named, below(context?.working_dir ?? null, named)].includes(real) ? [] : [real];
}

function ofCommand(call: Call, context: ApprovalContext | undefined): string[] {
  const links = linksIn(context);
  const line = links.size === 0 ? undefined : requestedLine(call, context?.working_dir ?? null);
  return line ? realPathsIn(throughLinks(line, links)) : [];
}

/**
 * Makes a relative path absolute; returns `undefined` for an absolute path, and for one with `..`, whose target depends
 * on links.
 */
function below(directory: string | null, path: string): string | undefined {
  if (directory === null || /^[/~]/.test(path)) return undefined;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return names.includes("..") ? undefined : [directory.replace(/\/$/, ""), ...names].join("/");
}
