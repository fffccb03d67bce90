import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { realPath } from "../../claude/launch/real-path.ts";
import { checkDirectory } from "../../claude/launch/working-dir.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import { isWithin } from "../../files/real-path.ts";

export type Workspace = ReturnType<typeof createWorkspace>;
type Directories = Pick<SessionConfig, "working_dir" | "add_dirs">;
type Argument = keyof Directories;

type WorkspaceNeed = {
  /** The roots of `--workspace`; without any, children may work nearly anywhere. */
  roots: string[];
  startedIn: string;
  dataDir: string;
  homes: string[];
  /** The directory of Claude Code's settings and credentials. */
  claudeDir: string;
};

/** Directories of keys, directly below a home. */
const SECRET_DIRS = [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"];
const INSTEAD =
  "work in a project's directory instead, or have the operator name this very directory with --workspace, which then lists all that children may work in";

/**
 * Decides where children may work: below the operator's roots, or without roots anywhere except in directories with
 * keys or tokens.
 */
export function createWorkspace({ roots, startedIn, dataDir, homes, claudeDir }: WorkspaceNeed) {
  /** Returns the real path, so that no link leads elsewhere; throws if no child can or may work there. */
  function permitted(argument: Argument, path: string, instead = INSTEAD): string {
    checkDirectory(argument, path);
    const real = realpathSync(path);
    refuseOutside(argument, path, real);
    const problem = problemWith(real);
    if (problem === undefined) return real;
    throw new AppError("invalid_arguments", `${argument} ${path} ${problem}: ${instead}.`);
  }

  function refuseOutside(argument: Argument, path: string, real: string): void {
    if (roots.length === 0 || roots.some((root) => isWithin(realPath(root), real))) return;
    const allowed = `It must lie in ${roots.join(" or ")} (--workspace).`;
    throw new AppError("invalid_arguments", `${argument} ${path} is outside of the workspace. ${allowed}`);
  }

  /** A child may read its own directories unasked, so none of them may hold a token. */
  function problemWith(real: string): string | undefined {
    const data = realPath(dataDir);
    const named = roots.map(realPath);
    if (isWithin(data, real)) {
      const isNamed = named.some((root) => isWithin(data, root) && isWithin(root, real));
      return isNamed ? undefined : `lies in Plexus's data dir ${dataDir}, whose tokens no child may reach`;
    }
    // Only a root that is this very directory permits it; a root above it says nothing about its contents.
    if (named.includes(real)) return undefined;
    if (homes.some((home) => realPath(home) === real)) return "is a home directory, where keys and tokens lie";
    if (isWithin(real, data)) return `holds Plexus's data dir ${dataDir}, whose tokens no child may reach`;
    const home = homes.find((path) => isWithin(real, realPath(path)));
    if (home !== undefined) return `holds the home directory ${home}, where keys and tokens lie`;
    const secret = homes
      .flatMap((one) => SECRET_DIRS.map((name) => join(realPath(one), name)))
      .find((one) => isWithin(realPath(one), real));
    if (secret !== undefined) return `lies in ${secret}, where keys and tokens are`;
    if (isWithin(realPath(claudeDir), real)) return `lies in Claude Code's own directory ${claudeDir}`;
    if (/^\/(proc|dev|sys)(\/|$)/.test(real)) return "is no directory of files";
    if (isWithin(real, realPath(claudeDir))) return `holds Claude Code's own settings and login (${claudeDir})`;
    return undefined;
  }

  function workingDir(asked: string | undefined): string {
    if (asked !== undefined) return permitted("working_dir", resolve(asked));
    const usual = resolve(roots[0] ?? startedIn);
    return permitted(
      "working_dir",
      usual,
      "it is where the server was started. Name a working_dir, or start the server with --workspace",
    );
  }

  return {
    /** The real paths of all directories of a child. Resolved at each call, since a link may have changed. */
    directories(asked: { [K in Argument]?: Directories[K] | undefined }): Directories {
      const working_dir = workingDir(asked.working_dir);
      const added = (asked.add_dirs ?? []).map((path) => permitted("add_dirs", resolve(working_dir, path)));
      return { working_dir, add_dirs: added };
    },
  };
}
