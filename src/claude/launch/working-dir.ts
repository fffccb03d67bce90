import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { AppError } from "../../contract/refusals/errors.ts";

/** Refuses a directory that the CLI can't work in: starting there would fail as if the CLI were missing. */
export function checkDirectory(argument: "working_dir" | "add_dirs", path: string): void {
  const refusal = (problem: string) => new AppError("invalid_arguments", `${argument} ${path} ${problem}.`);
  if (!isAbsolute(path)) throw refusal("is not an absolute path: start it with /");
  const found = look(path);
  if (found === undefined) throw refusal("does not exist: create it, or name another one");
  if (found === "forbidden") throw refusal("can't be reached: give this user access to its parent directories");
  if (!found.isDirectory()) throw refusal("is a file, not a directory: name the directory that it is in");
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch {
    throw refusal("can't be read by this user: give it read and search permission, or name another one");
  }
}

function look(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOTDIR" ? undefined : "forbidden";
  }
}
