import { READING_PROGRAMS } from "../../src/core/rules/builtin/programs.ts";
import { SPECIAL_PROGRAMS } from "../../src/core/rules/builtin/special-programs.ts";

/** The programs that the built-in rule `bash` knows. */
export function programList(): string {
  // `cd` runs no program: the rule for whole command lines knows it.
  const names = [...READING_PROGRAMS, ...SPECIAL_PROGRAMS, "cd"];
  return `\`${[...new Set(names)].sort().join(" ")}\``;
}
