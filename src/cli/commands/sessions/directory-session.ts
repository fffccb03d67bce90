import { basename } from "node:path";
import type { Api } from "../../../client/api.ts";
import type { SessionDetail } from "../../../contract/sessions/session-view.ts";
import { Name } from "../../../contract/values.ts";
import { CommandFailed } from "../../terminal/terminal.ts";
import type { Settings } from "./session-flags.ts";
import { findSession } from "./session-key.ts";

const FALLBACK = "session";
const LONGEST = 90;
const MOST = 100;

/** The existing session with this directory and these settings, or the name for a new one. */
export async function directorySession(
  api: Api,
  directory: string,
  asked: Settings,
): Promise<{ name: string; found: SessionDetail | undefined }> {
  const base = nameOf(directory);
  for (let number = 1; number <= MOST; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const found = await findSession(api, name);
    if (!found || isFor(found, directory, asked)) return { name, found };
  }
  throw new CommandFailed(`There are ${MOST} sessions named like ${base}: name one, \`plexus run NAME PROMPT\`.`);
}

/** The part of a directory's name that is valid in the name of a session. */
function nameOf(directory: string): string {
  const name = basename(directory)
    .replaceAll(/[^\p{L}\p{N} ._@:-]+/gu, "-")
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .slice(0, LONGEST)
    .trimEnd();
  return Name.safeParse(name).success ? name : FALLBACK;
}

/** Whether the session has this directory and these settings. Any other belongs to other work. */
function isFor(found: SessionDetail, directory: string, asked: Settings): boolean {
  if (found.kind !== "managed" || found.working_dir !== directory) return false;
  const settings: Settings = found;
  return Object.entries(asked).every(([key, value]) => Bun.deepEquals(settings[key as keyof Settings], value));
}
