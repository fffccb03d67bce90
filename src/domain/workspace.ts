import { realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import { checkWorkingDir } from "../claude/working-dir.ts";
import { AppError } from "../schema/errors.ts";

export type Workspace = ReturnType<typeof createWorkspace>;

/** Where children may work: anywhere, or below the roots that the operator has named. */
export function createWorkspace({ roots, startedIn }: { roots: string[]; startedIn: string }) {
  return {
    /** The directory that was asked for, or the usual one; refused where no child could or may work. */
    workingDir(asked: string | undefined): string {
      const path = resolve(asked ?? roots[0] ?? startedIn);
      checkWorkingDir(path);
      const real = realpathSync(path);
      if (roots.length === 0 || roots.some((root) => isWithin(realRoot(root), real))) return real;
      const allowed = `It must lie in ${roots.join(" or ")} (--workspace).`;
      throw new AppError("invalid_arguments", `working_dir ${path} is outside of the workspace. ${allowed}`);
    },
  };
}

function realRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return resolve(root);
  }
}

/** By what the paths really are, so that no link leads out. */
function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith("../"));
}
