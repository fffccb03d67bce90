import type { ProgramCall } from "../../programs/programs.ts";
import { isNamed, readArguments } from "../../syntax/options.ts";
import type { Finding, Rule } from "../rule.ts";

const PROGRAMS = new Set(["chmod", "chown", "chgrp", "setfacl", "chattr", "setcap"]);
/** Modes that make a file writable by everybody, or run it as its owner or group. */
const OPEN = /^[0-7]{0,2}[0-7]{2}[2367]$|^0?[2467][0-7]{3}$|^((?=[ugo]*[oa])[ugoa]+)?[+=][rxXst]*w|[+=][rwxXt]*s/;

/** Changes who may read, write or run files. */
export const permissions: Rule = { rule: "permissions", test: findPermissions };

function findPermissions({ program, args }: ProgramCall): Finding {
  if (!PROGRAMS.has(program)) return undefined;
  if (program === "setcap" || program === "chattr") return `changes a file's capabilities or attributes (${program})`;
  const { options, operands } = readArguments(args.filter(({ value }) => !/^-[rwxXst]+$/.test(value)));
  if (options.some((option) => isNamed(option, "-R", "--recursive")))
    return `changes the permissions of many files (${program} -R)`;
  const isOpen = program === "chmod" && (operands[0]?.value ?? "").split(",").some((mode) => OPEN.test(mode));
  return isOpen ? "lets everybody change a file, or run it with its owner's rights (chmod)" : undefined;
}
