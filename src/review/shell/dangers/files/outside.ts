import { isBelowHome, locate } from "../../paths/paths.ts";
import type { Rule } from "../rule.ts";

/** Changes files outside the working directory. */
export const outside: Rule = {
  rule: "outside",
  test: (_, { directory, changed }) =>
    changed
      .filter(({ value, isDynamic }) => !isDynamic || isBelowHome(value) || /^\/[^$*?[]+\//.test(value))
      .filter(({ value }) => locate(value, directory) === "outside")
      .map(({ value }) => `changes ${value}, outside the working directory`),
};
