import type { ChangedPath } from "../../paths/changed-paths.ts";
import { isBelowHome, locate } from "../../paths/paths.ts";
import type { Rule } from "../rule.ts";

/** Changes files outside the working directory. */
export const outside: Rule = {
  rule: "outside",
  test: (_, { directory, changed }) =>
    changed
      .filter(({ value, isDynamic }) => !isDynamic || isBelowHome(value) || /^\/[^$*?[]+\//.test(value))
      .filter(({ value }) => locate(value, directory) === "outside")
      .map((path) => `${happensTo(path)}, outside the working directory`),
};

function happensTo({ value, effect }: ChangedPath): string {
  switch (effect) {
    case "symbolic link":
      return `makes a link to ${value}`;
    case "hard link":
      return `makes a hard link to ${value}`;
    default:
      return `changes ${value}`;
  }
}
