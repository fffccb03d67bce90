import { hasCommandInIndex } from "../../programs/evaluations.ts";
import type { Subject } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** Builtins that take names of variables, or numbers: an index in them is evaluated. */
const EVALUATE = new Set(
  "let declare typeset local export readonly printf read mapfile readarray unset test [ getopts wait".split(" "),
);

/** Hides commands where the shell evaluates a number or a name. */
export const evaluation: Rule = {
  rule: "evaluation",
  test: findEvaluation,
  testWhole: ({ evaluations }) => evaluations.map((text) => `runs commands inside of an expansion (${text.trim()})`),
};

function findEvaluation({ program, args }: Subject): Finding {
  if (!EVALUATE.has(program)) return undefined;
  const found = args.find(({ value }) => hasCommandInIndex(value));
  return found && `runs commands inside of an array index (${program})`;
}
