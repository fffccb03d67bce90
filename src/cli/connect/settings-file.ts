import { chmodSync, constants, copyFileSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { fileFailure, systemCode } from "../server/file-failure.ts";
import { openPrivateFile } from "../server/private-file.ts";
import { CommandFailed } from "../terminal/terminal.ts";

/** A client's settings file; `text` is empty if the file does not exist. */
export type SettingsFile = { path: string; exists: boolean; text: string };

/** Follows a link and keeps it: some people keep their settings elsewhere. */
export function readSettings(path: string): SettingsFile {
  try {
    const real = realpathSync(path);
    return { path: real, exists: true, text: readFileSync(real, "utf8") };
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return { path, exists: false, text: "" };
    throw fileFailure(`${path} can't be read`, cause);
  }
}

/** Writes the whole file with access for its owner only, because it holds a token. Returns the path of the backup. */
export function writeSettings(file: SettingsFile, text: string): string | undefined {
  try {
    mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw fileFailure(`${file.path} can't be written`, cause);
  }
  using draft = openPrivateFile(file.path);
  if (readSettings(file.path).text !== file.text)
    throw new CommandFailed(`${file.path} has changed meanwhile: nothing was written. Run it again.`);
  const backup = file.exists ? keepBackup(file.path) : undefined;
  draft.commit(text);
  return backup;
}

function keepBackup(path: string): string {
  const backup = `${path}.${new Date().toISOString().replaceAll(/[-:.]/g, "")}.backup`;
  try {
    copyFileSync(path, backup, constants.COPYFILE_EXCL);
    chmodSync(backup, 0o600);
    return backup;
  } catch (cause) {
    throw fileFailure(`${backup} can't be written`, cause);
  }
}
