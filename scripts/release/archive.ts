import { chmod, copyFile, mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as tar from "tar";
import { ROOT } from "../run.ts";
import type { Target } from "./targets.ts";

/** The files beside the executable: its license, and service definitions of the platform. */
const COMPANIONS: Record<Target["os"], string[]> = {
  linux: ["LICENSE", "packaging/systemd/plexus.service", "packaging/systemd/plexus-system.service"],
  darwin: ["LICENSE", "packaging/launchd/plexus.plist"],
  windows: ["LICENSE"],
};

/** Packs reproducibly: the same files and time give the same bytes on any machine. */
export async function pack(executable: string, target: Target, file: string, time: Date): Promise<void> {
  const folder = dirname(executable);
  await chmod(executable, 0o755);
  for (const path of COMPANIONS[target.os]) {
    await mkdir(folder, { recursive: true });
    await copyFile(join(ROOT, path), join(folder, basename(path)));
    await chmod(join(folder, basename(path)), 0o644);
  }
  const names = [basename(executable), ...COMPANIONS[target.os].map((path) => basename(path))];
  await tar.create({ file, cwd: folder, gzip: true, portable: true, mtime: time }, names);
}
