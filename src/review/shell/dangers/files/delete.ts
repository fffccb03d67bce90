import type { ProgramCall } from "../../programs/programs.ts";
import { isNamed, readArguments, valuesOf } from "../../syntax/options.ts";
import type { Finding, Rule } from "../rule.ts";

const DESTROY = new Set(["shred", "srm", "wipe"]);

/** Removes or empties files: several at once, without asking, or files that are not named. */
export const deletes: Rule = { rule: "delete", test: findDeletion };

function findDeletion({ program, args, words }: ProgramCall): Finding {
  if (DESTROY.has(program)) return `destroys files (${program})`;
  if (program === "rm" || program === "unlink") {
    const { options, operands } = readArguments(args);
    const isWide = options.some((option) => isNamed(option, "-r", "-R", "-f", "--recursive", "--force"));
    return isWide || operands.some(({ isDynamic }) => isDynamic) ? `removes files (${program})` : undefined;
  }
  if (program === "rimraf") return "removes files (rimraf)";
  if (program === "find" && args.some(({ value }) => value === "-delete")) {
    return "removes what it finds (find -delete)";
  }
  if (program === "rsync") {
    const isRemoving = args.some(({ value }) => /^--(del|remove-s)/.test(value));
    return isRemoving ? "removes files (rsync --delete)" : undefined;
  }
  if (program === "truncate") {
    const { options } = readArguments(args, { short: "s", long: ["size"] });
    const isShrinking = valuesOf(options, "-s", "--size").some(({ value }) => /^(0+$|[-<%])/.test(value));
    return isShrinking ? "empties files (truncate)" : undefined;
  }
  if (program === "cp" && args[0]?.value === "/dev/null") return "empties a file (cp /dev/null)";
  if (program === "mv" && words.at(-1)?.value === "/dev/null") return "removes files (mv to /dev/null)";
  return undefined;
}
