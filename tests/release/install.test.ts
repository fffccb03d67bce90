import { describe, expect, test } from "bun:test";
import { appendFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../readme/readme.ts";
import { HERE, onMachine } from "./installing.ts";
import { archiveOf, type Mirror, makeFakeRelease, writeSums } from "./mirror.ts";

const SHELLS = [["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]].filter(
  ([name = ""]) => Bun.which(name) !== null,
);

/** A git that knows one clone, the one that contains the script. */
const clonedFrom = (origin: string) =>
  `[ "$1 $2" = "-C ${ROOT}" ] || exit 1\ncase $3 in rev-parse) echo ${ROOT} ;; remote) echo ${origin} ;; esac`;

describe("install.sh", () => {
  test.each(SHELLS.map((shell) => [shell.join(" "), shell] as const))("installs, in %s", (_, shell) =>
    onMachine(async ({ machine }) => {
      const [name = "", ...flags] = shell;
      const { exitCode, stdout, stderr } = await machine.install({ shell: [Bun.which(name) ?? name, ...flags] });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain(`Installed plexus 9.9.9 for linux-x64 as ${machine.plexus}`);
      expect(stdout).toContain(`${machine.plexus} serve`);
      expect(machine.installed()).toEqual(["plexus"]);
      expect(((await stat(machine.plexus)).mode & 0o777).toString(8)).toBe("755");
    }),
  );

  test("does not mention PATH when the directory is on it, and needs no home when the directory is given", () =>
    onMachine(async ({ machine }) => {
      const directory = join(machine.home, "elsewhere");
      const path = `${join(machine.home, "../bin")}:${directory}`;
      const { stdout } = await machine.install({ env: { PLEXUS_INSTALL_DIR: directory, HOME: "", PATH: path } });
      expect(stdout).toContain(`as ${directory}/plexus`);
      expect(stdout).not.toContain("PATH");
      expect(machine.installed()).toEqual([]);
    }));

  test.each([
    ["https://github.com/somebody/fork.git", "https://github.com/somebody/fork"],
    ["https://github.com/somebody/fork", "https://github.com/somebody/fork"],
    ["git@github.com:somebody/fork.git", "https://github.com/somebody/fork"],
  ])("of a clone of %s takes the releases of that repository", (origin, repository) =>
    onMachine(
      async ({ machine }) => {
        const { stderr } = await machine.install({ env: { PLEXUS_DOWNLOAD_URL: "" } });
        expect(stderr).toContain(`${repository}/releases/latest/download/SHA256SUMS can't be fetched`);
      },
      { with: { ...HERE, git: clonedFrom(origin), curl: "exit 1" } },
    ),
  );

  test.skipIf(Bun.which("wget") === null)("uses wget when there is no curl", () =>
    onMachine(
      async ({ machine }) => {
        expect(await machine.install()).toMatchObject({ exitCode: 0 });
      },
      { without: ["curl"], with: { ...HERE, wget: `exec ${Bun.which("wget")} "$@"` } },
    ),
  );

  test("replaces an installed plexus in one step", () =>
    onMachine(async ({ machine }) => {
      await machine.install();
      const before = await stat(machine.plexus);
      expect(await machine.install()).toMatchObject({ exitCode: 0 });
      expect((await stat(machine.plexus)).ino).not.toBe(before.ino);
      expect(machine.installed()).toEqual(["plexus"]);
    }));

  test("does nothing when only part of the script has arrived", () =>
    onMachine(async ({ machine }) => {
      const text = await readFile(join(ROOT, "install.sh"), "utf8");
      for (const share of [0.3, 0.6, 0.9, 0.99]) {
        const part = join(machine.home, "part.sh");
        await writeFile(part, text.slice(0, Math.floor(text.length * share)));
        await machine.install({ script: part });
        expect(machine.installed()).toEqual([]);
      }
    }));
});

describe("install.sh installs nothing and keeps the old plexus", () => {
  const damages: [string, (mirror: Mirror) => Promise<void>, RegExp][] = [
    [
      "when the checksum differs",
      ({ folder }) => appendFile(join(folder, archiveOf("linux-x64")), "x"),
      /has another checksum than SHA256SUMS says .*nothing was installed/,
    ],
    ["when there are no checksums", ({ folder }) => rm(join(folder, "SHA256SUMS")), /SHA256SUMS can't be fetched/],
    [
      "when the archive is missing",
      ({ folder }) => rm(join(folder, archiveOf("linux-x64"))),
      /linux-x64\.tar\.gz can't be fetched: nothing was installed/,
    ],
    [
      "when the checksums don't include the archive",
      ({ folder }) => writeFile(join(folder, "SHA256SUMS"), "<html>Sign in</html>\n"),
      /has nothing for linux-x64/,
    ],
    [
      "when the new plexus does not run",
      async ({ folder }) => {
        await rm(folder, { recursive: true });
        await makeFakeRelease(folder, "exit 127");
      },
      /does not run here: nothing was installed/,
    ],
    [
      "when the archive has no plexus in it",
      async ({ folder }) => {
        await writeFile(join(folder, archiveOf("linux-x64")), Bun.gzipSync(new Uint8Array(1024)));
        await writeSums(folder);
      },
      /can't be unpacked: nothing was installed/,
    ],
  ];
  test.each(damages)("%s", (_, damage, message) =>
    onMachine(async ({ machine, mirror }) => {
      await mkdir(join(machine.home, ".local/bin"), { recursive: true });
      await writeFile(machine.plexus, "the old one");
      await damage(mirror);
      const { exitCode, stderr } = await machine.install();
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
      expect(machine.installed()).toEqual(["plexus"]);
      expect(await readFile(machine.plexus, "utf8")).toBe("the old one");
    }),
  );

  const machines: [string, string[], RegExp][] = [
    ["without curl and wget", ["curl"], /curl or wget is needed/],
    ["without a program for checksums", ["sha256sum"], /without one, nothing can be checked/],
    ["without tar", ["tar"], /tar is needed/],
  ];
  test.each(machines)("%s", (_, without, message) =>
    onMachine(
      async ({ machine }) => {
        const { exitCode, stderr } = await machine.install();
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
        expect(machine.installed()).toEqual([]);
      },
      { without, with: HERE },
    ),
  );

  test("when the address of the release is not given", () =>
    onMachine(async ({ machine }) => {
      const { exitCode, stderr } = await machine.install({ env: { PLEXUS_DOWNLOAD_URL: "" } });
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("PLEXUS_DOWNLOAD_URL") });
    }));

  test("when the clone that it is run from is none of github.com", () =>
    onMachine(
      async ({ machine }) => {
        const { exitCode, stderr } = await machine.install({ env: { PLEXUS_DOWNLOAD_URL: "" } });
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("PLEXUS_DOWNLOAD_URL") });
      },
      { with: { ...HERE, git: clonedFrom("https://example.com/somebody/fork.git") } },
    ));

  test("when the directory can't be created", () =>
    onMachine(async ({ machine }) => {
      await writeFile(join(machine.home, "file"), "");
      const { exitCode, stderr } = await machine.install({
        env: { PLEXUS_INSTALL_DIR: join(machine.home, "file/bin") },
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("set PLEXUS_INSTALL_DIR") });
    }));
});

describe("install.sh chooses the archive for", () => {
  const uname = (os: string, cpu: string) => ({
    ...HERE,
    uname: `case $1 in -s) echo ${os} ;; -m) echo ${cpu} ;; esac`,
  });
  const musl = {
    getconf: "exit 1",
    ldd: 'echo "musl libc (x86_64)" >&2; exit 1',
    grep: `exec ${Bun.which("grep")} "$@"`,
  };
  const cases: [string, string, Record<string, string>][] = [
    ["linux-x64", "Linux with AVX2", uname("Linux", "x86_64")],
    ["linux-x64-baseline", "Linux on an older processor", { ...uname("Linux", "x86_64"), grep: "exit 1" }],
    ["linux-arm64", "Linux on ARM", uname("Linux", "aarch64")],
    ["linux-x64-musl", "Alpine", { ...uname("Linux", "x86_64"), ...musl }],
    ["linux-arm64-musl", "Alpine on ARM", { ...uname("Linux", "aarch64"), ...musl }],
    ["darwin-x64", "an Intel Mac", uname("Darwin", "x86_64")],
    ["darwin-arm64", "a Mac", uname("Darwin", "arm64")],
    ["darwin-arm64", "a Mac whose shell is translated", { ...uname("Darwin", "x86_64"), sysctl: "echo 1" }],
  ];
  test.each(cases)("%s on %s", (target, _, stubs) =>
    onMachine(
      async ({ machine }) => {
        const { stdout, stderr } = await machine.install();
        expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining(`for ${target} as`), stderr: "" });
      },
      { with: stubs },
    ),
  );

  test.each([
    ["another system", uname("FreeBSD", "amd64"), "there is no plexus for FreeBSD"],
    ["another processor", uname("Linux", "riscv64"), "there is no plexus for the processor riscv64"],
  ])("no platform on %s, and says so", (_, stubs, message) =>
    onMachine(
      async ({ machine }) => {
        const { exitCode, stderr } = await machine.install();
        expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) });
      },
      { with: stubs },
    ),
  );

  test("the target that it is given", () =>
    onMachine(async ({ machine }) => {
      const { stdout } = await machine.install({ env: { PLEXUS_TARGET: "linux-arm64-musl" } });
      expect(stdout).toContain("for linux-arm64-musl as");
    }));
});
