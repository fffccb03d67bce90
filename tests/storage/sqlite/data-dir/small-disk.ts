import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type SmallDisk = Disposable & {
  path: string;
  /** Fills the disk, except for `roomKb`. */
  fill(roomKb?: number): void;
  free(): void;
  /** Remounts the disk read-only; all files must be closed. */
  makeReadOnly(): void;
};

/** Mounts a separate file system of this size, which only root can do. */
export function smallDisk(size: string): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "plexus-disk-"));
  const filler = join(path, "filler");
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path);
  } catch (cause) {
    rmdirSync(path);
    throw cause;
  }
  return {
    path,
    fill(roomKb = 0) {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(bavail * bsize - roomKb * 1024));
    },
    free: () => rmSync(filler),
    makeReadOnly: () => run("mount", "-o", "remount,ro", path),
    [Symbol.dispose]() {
      run("umount", "-l", path);
      rmdirSync(path);
    },
  };
}

export function canMountSmallDisk(): boolean {
  try {
    using _ = smallDisk("64k");
    return true;
  } catch {
    return false;
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString().trim()}`);
}
