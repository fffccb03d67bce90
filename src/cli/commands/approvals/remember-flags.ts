import { type Command, Option } from "commander";
import { UsageError } from "../../../config.ts";
import type { Remember } from "../../../contract/rules/rule.ts";
import { WHERE } from "../rules/rule-text.ts";

export type RememberFlags = { remember?: Remember["scope"]; match?: string };

/** Adds the flags that turn a decision into a rule. */
export function withRememberFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--remember <SCOPE>", `make a rule of it: session, ${WHERE.session}; always, ${WHERE.always}`).choices(
        Object.keys(WHERE),
      ),
    )
    .option(
      "--match <MATCH>",
      'with --remember: the calls that the rule decides, such as "Bash(npm run *)" (as suggested)',
    );
}

export function rememberIn({ remember: scope, match }: RememberFlags): Remember | undefined {
  if (scope === undefined && match !== undefined) throw new UsageError("--match goes with --remember.");
  return scope && { scope, match };
}
