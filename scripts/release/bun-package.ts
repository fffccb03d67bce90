import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as tar from "tar";
import { z } from "zod";
import { ROOT, run } from "../run.ts";
import type { Target } from "./targets.ts";

const Lockfile = z.object({ packages: z.record(z.string(), z.looseObject({ integrity: z.string().optional() })) });

/** Fetches the Bun for a target into `folder`, and returns its path; accepts only the expected hash. */
export async function fetchBun(target: Target, folder: string): Promise<string> {
  const expected = await knownIntegrity(target);
  const archive = pack(target, folder);
  const actual = `sha512-${createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")}`;
  if (actual !== expected) {
    throw new Error(`${nameOf(target)} is not what the lockfile knows: it has ${actual} instead of ${expected}.`);
  }
  await tar.extract({ file: archive, cwd: folder });
  return join(folder, "package", "bin", target.os === "windows" ? "bun.exe" : "bun");
}

function pack(target: Target, folder: string): string {
  try {
    run("npm", "pack", "--silent", "--prefer-offline", "--pack-destination", folder, nameOf(target));
  } catch (cause) {
    throw new Error(`${target.name} can't be made: ${nameOf(target)}, which it runs on, could not be fetched.`, {
      cause,
    });
  }
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm pack ${nameOf(target)} left no archive.`);
  return join(folder, archive);
}

async function knownIntegrity(target: Target): Promise<string> {
  const { packages } = Lockfile.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
  const known = packages[`node_modules/${target.bun}`]?.integrity ?? target.integrity?.[Bun.version];
  if (known !== undefined) return known;
  const look = `npm view ${nameOf(target)} dist.integrity`;
  throw new Error(`Nothing is known of ${nameOf(target)}: put what \`${look}\` says into scripts/release/targets.ts.`);
}

/** Uses the version of the Bun that runs this build. */
function nameOf({ bun }: Target): string {
  return `${bun}@${Bun.version}`;
}
