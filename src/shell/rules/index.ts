import { background } from "./background.ts";
import { container } from "./container.ts";
import { database } from "./database.ts";
import { deletes } from "./delete.ts";
import { disk } from "./disk.ts";
import { evaluation } from "./evaluation.ts";
import { fedShell } from "./fed-shell.ts";
import { git } from "./git.ts";
import { indirect } from "./indirect.ts";
import { inlineCode } from "./inline-code.ts";
import { loader } from "./loader.ts";
import { machine } from "./machine.ts";
import { network } from "./network.ts";
import { outside } from "./outside.ts";
import { permissions } from "./permissions.ts";
import { privileges } from "./privileges.ts";
import { processes } from "./processes.ts";
import { publish } from "./publish.ts";
import { redefine } from "./redefine.ts";
import { remote } from "./remote.ts";
import type { Rule } from "./rule.ts";
import { secrets } from "./secrets.ts";
import { settings } from "./settings.ts";
import { supervision } from "./supervision.ts";
import { unknownProgram } from "./unknown-program.ts";
import { hidden, unreadable } from "./unreadable.ts";

/** What counts as dangerous in a command, the worst first; `docs/dangers.md` says it to people. */
export const RULES: readonly Rule[] = [
  privileges,
  deletes,
  disk,
  fedShell,
  unknownProgram,
  inlineCode,
  indirect,
  evaluation,
  redefine,
  supervision,
  settings,
  git,
  permissions,
  processes,
  machine,
  container,
  publish,
  database,
  network,
  remote,
  secrets,
  loader,
  background,
  outside,
  hidden,
  unreadable,
];
