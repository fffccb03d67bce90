/** Unpacks a platform's release, checks its checksum, and runs it on this machine, which must be of that platform. */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as tar from "tar";
import manifest from "../package.json" with { type: "json" };
import { executableOf, TARGETS, type Target, wayToRun } from "./release/targets.ts";
import { tryOut } from "./release/trial.ts";
import { ROOT, run } from "./run.ts";
import { sourceCommit } from "./source-commit.ts";

const [name, folder = join(ROOT, "dist", "release")] = process.argv.slice(2);
const target = TARGETS.find((each) => each.name === name);
if (target) {
  await tryRelease(target, resolve(folder));
} else {
  console.error(`npm run release:try -- TARGET [DIR], of ${TARGETS.map((each) => each.name).join(", ")}`);
  process.exitCode = 2;
}

async function tryRelease(target: Target, from: string): Promise<void> {
  const way = wayToRun(target);
  if ("missing" in way) throw new Error(`${target.name} can't be tried here: ${way.missing}.`);
  const archive = `plexus-${manifest.version}-${target.name}.tar.gz`;
  await checkSum(from, archive);
  const place = await mkdtemp(join(tmpdir(), "plexus-unpacked-"));
  try {
    await tar.extract({ file: join(from, archive), cwd: place });
    const executable = join(place, executableOf(target));
    if (target.os === "darwin") run("codesign", "--verify", "--strict", "--verbose=2", executable);
    await tryOut([...way.launcher, executable], { version: manifest.version, commit: sourceCommit()?.id ?? null });
    console.log(`${archive} ran: version, serve, healthcheck, stop`);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function checkSum(from: string, archive: string): Promise<void> {
  const sum = createHash("sha256")
    .update(await readFile(join(from, archive)))
    .digest("hex");
  const sums = await readFile(join(from, "SHA256SUMS"), "utf8");
  if (!sums.split("\n").includes(`${sum}  ${archive}`)) throw new Error(`${archive} is not what SHA256SUMS promises.`);
}
