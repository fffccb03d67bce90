import { hasCommandInIndex } from "../../programs/evaluations.ts";
import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** Builtins that evaluate an index in arguments that are variable names or numbers. */
const EVALUATE = new Set(
  "let declare typeset local export readonly printf read mapfile readarray unset test [ getopts wait".split(" "),
);

/** Hides commands where the shell evaluates a number or a name. */
export const evaluation: Rule = {
  rule: "evaluation",
  test: findEvaluation,
  testAll: ({ evaluations }) => evaluations.map((text) => `runs commands inside an expansion (${text.trim()})`),
};

function findEvaluation({ program, args }: ProgramCall): Finding {
  if (!EVALUATE.has(program)) return undefined;
  const found = args.find(({ value }) => hasCommandInIndex(value));
  return found && `runs commands inside an array index (${program})`;
}
