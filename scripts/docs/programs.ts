import { READING_PROGRAMS } from "../../src/core/rules/builtin/programs.ts";
import { SPECIAL_PROGRAMS } from "../../src/core/rules/builtin/special-programs.ts";

/** Lists the programs that the built-in rule `bash` knows. */
export function programList(): string {
  // `cd` is not a program; the rule for whole command lines handles it.
  const names = [...READING_PROGRAMS, ...SPECIAL_PROGRAMS, "cd"];
  return `\`${[...new Set(names)].sort().join(" ")}\``;
}
