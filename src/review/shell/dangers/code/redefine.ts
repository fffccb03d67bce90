import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

/** Common commands that a function or an alias could replace. */
const COMMON = new Set(
  "bash builtin cat cd claude command cp curl docker echo eval exec exit export find git grep kill ls make mv node npm plexus printf python python3 read rm sed sh source ssh sudo test trap".split(
    " ",
  ),
);
const HANDLERS = /^(command_not_found_handler?|precmd|preexec|chpwd)$/;

/** Redefines a common command. */
export const redefine: Rule = {
  rule: "redefine",
  test: findRedefinition,
  testAll: ({ functions }) =>
    functions.filter((name) => COMMON.has(name) || HANDLERS.test(name)).map((name) => redefined(name)),
};

function findRedefinition({ program, args }: ProgramCall): Finding {
  if (program === "hash" && args.some(({ value }) => value === "-p"))
    return "makes a command run another file (hash -p)";
  if (program === "enable" && args.some(({ value }) => value.startsWith("-f")))
    return "loads code into the shell (enable -f)";
  if (program !== "alias") return undefined;
  const name = args.map(({ value }) => /^([^=]+)=/.exec(value)?.[1] ?? "").find((one) => COMMON.has(one));
  return name && redefined(name);
}

function redefined(name: string): string {
  return `redefines a common command (${name})`;
}
