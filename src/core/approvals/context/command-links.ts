import { dirname, normalize } from "node:path";
import type { Approval } from "../../../contract/approvals/approval.ts";
import type { PathLink } from "../../../contract/approvals/approval-context.ts";
import { type Budget, type Found, follow } from "../../../files/real-path.ts";
import { commandPaths } from "../../../review/real-paths.ts";

/** One budget for all paths of a command: a repository can make each of them long with links. */
const MAX_STEPS = 4_000;
const MAX_PATHS = 200;

/** The paths in a call's command that links currently lead elsewhere, and the first path beyond the limit. */
export function commandLinks(
  call: Pick<Approval, "tool_name" | "input">,
  workingDir: string,
  home: string | undefined,
): PathLink[] {
  const budget: Budget = { steps: MAX_STEPS, seen: new Map() };
  const links: PathLink[] = [];
  const { changed, named } = commandPaths(call, workingDir, MAX_PATHS + 1);
  for (const [at, path] of [...changed, ...named].entries()) {
    const written = path.startsWith("~") ? home && `${home}${path.slice(1)}` : path;
    const plain = written && normalize(written).replace(/(?!^)\/+$/, "");
    if (!written || !plain) continue;
    const isTooMany = at >= MAX_PATHS || budget.steps <= 0;
    const real = isTooMany ? null : realPath(written, plain, budget);
    if (real !== plain) links.push({ path, real });
    if (isTooMany) break;
  }
  return links;
}

function realPath(written: string, plain: string, budget: Budget): string | null {
  const found = followMade(written, budget);
  // After a trailing `/.` a link is only followed if it leads to a directory.
  if (found && written.endsWith("/.") && found.kind !== "directory") return plain;
  return found?.real ?? null;
}

/** Follows the path as if missing directories existed, so that `..` leads out of them. */
function followMade(path: string, budget: Budget): Found | undefined {
  const found = follow(path, budget);
  const up = path.search(/\/\.\.(?:\/|$)/);
  if (found || up < 0) return found;
  const below = follow(path.slice(0, up), budget);
  return below && followMade(`${dirname(below.real)}${path.slice(up + 3)}`, budget);
}
