import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../readme/readme.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { type Mirror, makeFakeRelease, serveFolder } from "./mirror.ts";

const SCRIPT = join(ROOT, "install.sh");
/** Stubs that make every machine look like Linux on x64. */
export const HERE = {
  uname: "case $1 in -s) echo Linux ;; -m) echo x86_64 ;; esac",
  getconf: "echo glibc",
  grep: "exit 0",
};
/** Every program that the script may use, besides one to download with. */
const TOOLS = ["chmod", "cut", "getconf", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sha256sum"].concat([
  "sh",
  "tar",
  "uname",
  "wc",
]);

export type Outcome = { exitCode: number; stdout: string; stderr: string };
/** A machine with its own home and a PATH with only these tools, or with stubs in their place. */
export type Machine = {
  home: string;
  plexus: string;
  install(options?: { env?: Record<string, string>; shell?: string[]; script?: string }): Promise<Outcome>;
  /** The files in the target directory, including leftover temporary ones. */
  installed(): string[];
};

type Stubs = { without?: string[]; with?: Record<string, string>; url: string };

export function prepareMachine(folder: string, { without = [], with: stubs = {}, url }: Stubs): Machine {
  const home = join(folder, "home");
  const bin = join(folder, "bin");
  for (const path of [home, bin]) mkdirSync(path, { recursive: true });
  const wanted = [...TOOLS, "curl"].filter((tool) => !without.includes(tool) && !(tool in stubs));
  for (const tool of wanted) {
    const found = Bun.which(tool);
    if (found !== null) symlinkSync(found, join(bin, tool));
  }
  for (const [tool, text] of Object.entries(stubs)) {
    writeFileSync(join(bin, tool), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, tool), 0o755);
  }
  const directory = join(home, ".local/bin");
  return {
    home,
    plexus: join(directory, "plexus"),
    async install({ env = {}, shell = ["sh"], script = SCRIPT } = {}) {
      const installing = Bun.spawn([...shell, script], {
        cwd: home,
        env: { PATH: bin, HOME: home, PLEXUS_DOWNLOAD_URL: url, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr] = await Promise.all([installing.stdout.text(), installing.stderr.text()]);
      return { exitCode: await installing.exited, stdout, stderr };
    },
    installed: () => (existsSync(directory) ? readdirSync(directory) : []),
  };
}

type Place = { machine: Machine; mirror: Mirror };

/** A machine and a release that it can download. */
export async function onMachine(
  body: (place: Place) => Promise<void>,
  stubs: { without?: string[]; with?: Record<string, string> } = { with: HERE },
): Promise<void> {
  await using directory = await temporaryDirectory();
  const release = join(directory.path, "release");
  await makeFakeRelease(release);
  await using mirror = serveFolder(release);
  await body({ machine: prepareMachine(directory.path, { ...stubs, url: mirror.url }), mirror });
}
