import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Packages that only one part needs, with their own lockfile. */
export type InstalledPackages = {
  /** The module of a package. */
  load<Module>(name: string): Promise<Module>;
  /** The file of a package's program. */
  program(path: string): string;
};
type NoPackages = { missing: string };
/** The directory with package.json and package-lock.json, and the name of the folder for the packages. */
type Manifest = { directory: string; name: string };

const CACHE = join(import.meta.dir, "../../node_modules/.cache");
const UNFINISHED = "unfinished-";
const FILES = ["package.json", "package-lock.json"];
/** npm's messages when it can't reach a registry. */
const UNREACHABLE =
  /npm error (?:code|errno) (E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NETUNREACH|HOSTUNREACH))/;
const BRIEF_RETRIES = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];

/**
 * Installs the packages of the lockfile, unless they are there. Only a machine without a registry may skip this, and CI
 * never.
 */
export async function installPackages({ directory, name }: Manifest): Promise<InstalledPackages | NoPackages> {
  const cache = join(CACHE, name);
  const texts = FILES.map((file) => readFileSync(join(directory, file), "utf8"));
  const place = join(cache, Bun.hash(texts.join("\n")).toString(36));
  if (!existsSync(place)) {
    const failure = await install(directory, cache, place);
    const reason = failure && UNREACHABLE.exec(failure)?.[1];
    if (reason && !process.env["CI"]) return { missing: `npm can't reach its registry: ${reason}` };
    if (failure) throw new Error(`the packages of ${name} could not be installed:\n${failure}`);
  }
  return {
    load: (wanted) => import(Bun.resolveSync(wanted, place)),
    program: (path) => join(place, "node_modules", path),
  };
}

/** Installs into a folder that gets its name only when complete, and removes the folders of earlier lockfiles. */
async function install(directory: string, cache: string, place: string): Promise<string | undefined> {
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, UNFINISHED));
  try {
    for (const file of FILES) cpSync(join(directory, file), join(unfinished, file));
    const npm = Bun.spawn(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", ...BRIEF_RETRIES], {
      cwd: unfinished,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [said, exitCode] = await Promise.all([npm.stderr.text(), npm.exited]);
    if (exitCode !== 0) return said;
    for (const earlier of readdirSync(cache).filter((name) => !name.startsWith(UNFINISHED))) {
      if (join(cache, earlier) !== place) rmSync(join(cache, earlier), { recursive: true, force: true });
    }
    // Another process may have installed it meanwhile.
    if (!existsSync(place)) renameSync(unfinished, place);
    return undefined;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
