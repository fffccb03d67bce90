import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandFailed } from "../terminal/terminal.ts";
import { fileFailure } from "./file-failure.ts";

type PrivateFile = Disposable & { commit(text: string): void };

/**
 * A file that only its owner can read, from the first byte on. It is written beside its place and moved there when
 * complete. It is opened before the secret exists, so that an unfit path is refused early.
 */
export function openPrivateFile(path: string, { replaces = true } = {}): PrivateFile {
  const failure = (cause: unknown) => fileFailure(`${path} can't be written`, cause);
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  const file = attempt(() => {
    refuseUnfit(path, replaces);
    return openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  });

  function attempt<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw failure(cause);
    }
  }

  return {
    commit: (text) =>
      attempt(() => {
        fchmodSync(file, 0o600);
        writeSync(file, text);
        fsyncSync(file);
        refuseUnfit(path, replaces);
        renameSync(draft, path);
      }),
    [Symbol.dispose]() {
      closeSync(file);
      rmSync(draft, { force: true });
    },
  };
}

/** Replaces only plain files: a link may point to a file that is not ours, and a device must stay one. */
export function refuseUnfit(path: string, replaces: boolean): void {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing && !existing.isFile()) throw new CommandFailed(`${path} is not a plain file: choose another name.`);
  if (existing && !replaces) throw new CommandFailed(`${path} is there already: choose another name, or add --force.`);
}
