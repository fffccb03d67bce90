import { evaluation } from "./code/evaluation.ts";
import { fedShell } from "./code/fed-shell.ts";
import { indirect } from "./code/indirect.ts";
import { inlineCode } from "./code/inline-code.ts";
import { loader } from "./code/loader.ts";
import { redefine } from "./code/redefine.ts";
import { unknownProgram } from "./code/unknown-program.ts";
import { hidden, unreadable } from "./code/unreadable.ts";
import { deletes } from "./files/delete.ts";
import { disk } from "./files/disk.ts";
import { git } from "./files/git.ts";
import { outside } from "./files/outside.ts";
import { permissions } from "./files/permissions.ts";
import { secrets } from "./files/secrets.ts";
import { settings } from "./files/settings.ts";
import { background } from "./machine/background.ts";
import { machine } from "./machine/machine.ts";
import { privileges } from "./machine/privileges.ts";
import { processes } from "./machine/processes.ts";
import { supervision } from "./machine/supervision.ts";
import { container } from "./network/container.ts";
import { database } from "./network/database.ts";
import { network } from "./network/network.ts";
import { publish } from "./network/publish.ts";
import { remote } from "./network/remote.ts";
import type { Rule } from "./rule.ts";

/** The rules for commands, the worst danger first; `docs/dangers.md` describes them for people. */
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
