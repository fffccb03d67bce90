/** Builds the executables of all platforms with their checksums, and runs those that this machine can run. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json" with { type: "json" };
import { compile } from "./compile.ts";
import { pack } from "./release/archive.ts";
import { fetchBun } from "./release/bun-package.ts";
import { installScript } from "./release/install-script.ts";
import { signForMac } from "./release/mac-signature.ts";
import { billOfMaterials } from "./release/sbom.ts";
import { executableOf, TARGETS, type Target, wayToRun } from "./release/targets.ts";
import { tryOut } from "./release/trial.ts";
import { ROOT } from "./run.ts";
import { sourceCommit } from "./source-commit.ts";

const USAGE = `npm run release -- [--only TARGETS] [--out DIR] [--tag TAG] [--download-url URL]

  --only TARGETS      comma-separated, of ${TARGETS.map(({ name }) => name).join(", ")}
  --out DIR           where to put them (dist/release)
  --tag TAG           refuse unless this is the version's tag, and nothing is changed since its commit
  --download-url URL  where install.sh is to find them`;

type Options = { targets: Target[]; out: string; tag: string | undefined; downloadUrl: string | undefined };

const options = readOptions();
if (!options) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await release(options);
}

async function release({ targets, out, tag, downloadUrl }: Options): Promise<void> {
  const commit = sourceCommit();
  if (!commit) throw new Error("A release is made of a commit: this is no git repository.");
  if (tag !== undefined && tag !== `v${manifest.version}`) {
    throw new Error(`The tag is ${tag}, but package.json says ${manifest.version}.`);
  }
  if (tag !== undefined && commit.isDirty) throw new Error("There are changes that are not in the commit.");
  await mkdir(dirname(out), { recursive: true });
  const workshop = await mkdtemp(join(dirname(out), ".release-"));
  try {
    const shelf = join(workshop, "shelf");
    await mkdir(shelf);
    for (const target of targets) {
      const folder = join(workshop, target.name);
      const executable = await build(target, folder, commit.id);
      const outcome = await tried(target, executable, commit.id);
      const archive = `plexus-${manifest.version}-${target.name}.tar.gz`;
      await pack(executable, target, join(shelf, archive), commit.committedAt);
      console.log(`${archive.padEnd(44)} ${outcome}`);
      await rm(folder, { recursive: true });
    }
    const bom = await billOfMaterials({ commit: commit.id, time: commit.committedAt });
    await writeFile(join(shelf, `plexus-${manifest.version}.cdx.json`), bom);
    await writeFile(join(shelf, "install.sh"), await installScript(downloadUrl), { mode: 0o755 });
    await writeFile(join(shelf, "SHA256SUMS"), await sumsOf(shelf));
    await rm(out, { recursive: true, force: true });
    await rename(shelf, out);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  console.log(
    `${relative(ROOT, out)}: ${manifest.version} of commit ${commit.id}, with SHA256SUMS and what it is made of`,
  );
}

async function build(target: Target, folder: string, commit: string): Promise<string> {
  const packed = join(folder, "bun");
  await mkdir(packed, { recursive: true });
  const bun = await fetchBun(target, packed);
  const executable = join(folder, "made", executableOf(target));
  // Without the file extension, which Bun appends itself: the name affects a few bytes.
  await compile({ outfile: join(folder, "made", "plexus"), commit, platform: { target: `bun-${target.name}`, bun } });
  if (target.name === "darwin-x64") await signForMac(executable);
  return executable;
}

async function tried(target: Target, executable: string, commit: string): Promise<string> {
  const way = wayToRun(target);
  if ("missing" in way) return `UNTESTED: ${way.missing}`;
  await tryOut([...way.launcher, executable], { version: manifest.version, commit });
  return `ran${way.launcher[0] === undefined ? "" : ` in ${way.launcher[0]}`}: version, serve, healthcheck, stop`;
}

async function sumsOf(folder: string): Promise<string> {
  const names = (await readdir(folder)).sort();
  const sumOf = async (name: string) =>
    createHash("sha256")
      .update(await readFile(join(folder, name)))
      .digest("hex");
  const lines = await Promise.all(names.map(async (name) => `${await sumOf(name)}  ${name}\n`));
  return lines.join("");
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        out: { type: "string", default: join(ROOT, "dist", "release") },
        tag: { type: "string" },
        "download-url": { type: "string" },
      },
    });
    const wanted = values.only?.split(",") ?? TARGETS.map(({ name }) => name);
    const targets = TARGETS.filter(({ name }) => wanted.includes(name));
    if (targets.length !== wanted.length) return undefined;
    return { targets, out: resolve(values.out), tag: values.tag, downloadUrl: values["download-url"] };
  } catch {
    return undefined;
  }
}
