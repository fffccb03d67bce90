import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HERE, type Machine, onMachine } from "./installing.ts";
import { archiveOf, makeCertificate, redirectTo, serveFolder } from "./mirror.ts";

const WGET = { without: ["curl"], with: { ...HERE, wget: `exec ${Bun.which("wget")} "$@"` } };
const DOWNLOADERS = [
  { name: "curl", stubs: { with: HERE } },
  { name: "wget", stubs: WGET },
].filter(({ name }) => Bun.which(name) !== null);

async function expectRefusal(machine: Machine, env: Record<string, string>, message: RegExp | string): Promise<void> {
  const { exitCode, stderr } = await machine.install({ env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(message) });
  expect(machine.installed()).toEqual([]);
}

describe("install.sh refuses before it connects", () => {
  test.each([
    "http://example.com/release",
    "http://127.0.0.1.example.com/release",
    "http://127.0.0.1@example.com/release",
    "http://127.0.0.1:80@example.com/release",
    "http://127.0.0.1:@example.com",
    "http://localhost.example.com",
    "http://127.0.0.1:",
    "http://127.0.0.2/release",
    "http://192.0.2.1",
    "HTTP://127.0.0.1/",
    "ftp://127.0.0.1/release",
    "file:///tmp/release",
    "127.0.0.1/release",
    "-K/tmp/curlrc",
  ])("the address %s", (url) =>
    onMachine(
      async ({ machine }) => {
        await expectRefusal(machine, { PLEXUS_DOWNLOAD_URL: url }, /https address/);
        expect(existsSync(join(machine.home, "connected"))).toBe(false);
      },
      { with: { ...HERE, curl: ': >"$HOME/connected"; exit 1' } },
    ),
  );
});

describe.each(DOWNLOADERS)("install.sh with $name", ({ stubs }) => {
  test("refuses a redirect to plain http, even on this machine", () =>
    onMachine(async ({ machine, mirror }) => {
      await using elsewhere = redirectTo(mirror.url);
      await expectRefusal(machine, { PLEXUS_DOWNLOAD_URL: elsewhere.url }, /SHA256SUMS can't be fetched/);
    }, stubs));

  test.skipIf(Bun.which("openssl") === null)("accepts https and redirects to https, but none to http", () =>
    onMachine(async ({ machine, mirror }) => {
      const certificate = await makeCertificate(machine.home);
      await writeFile(join(machine.home, ".wgetrc"), `ca_certificate = ${certificate.path}\n`);
      const env = (url: string) => ({ PLEXUS_DOWNLOAD_URL: url, CURL_CA_BUNDLE: certificate.path });
      await using secure = serveFolder(mirror.folder, certificate);
      await using toHttp = redirectTo(mirror.url, certificate);
      await using toHttps = redirectTo(secure.url, certificate);
      await using round = redirectTo(toHttp.url, certificate);
      for (const { url } of [toHttp, round]) await expectRefusal(machine, env(url), /SHA256SUMS can't be fetched/);
      for (const { url } of [secure, toHttps]) {
        expect(await machine.install({ env: env(url) })).toMatchObject({ exitCode: 0, stderr: "" });
      }
    }, stubs),
  );
});

test("install.sh asks for curl when wget can't be limited to https", () =>
  onMachine(
    async ({ machine }) => {
      await expectRefusal(machine, {}, /curl is needed/);
    },
    { without: ["curl"], with: { ...HERE, wget: 'echo "Usage: wget [-qO FILE] URL" >&2; exit 1' } },
  ));

describe("install.sh checks the attestation", () => {
  const env = { PLEXUS_REPOSITORY: "somebody/plexus" };
  /** A gh that records its arguments, and exits with these codes. */
  const gh = ({ knows = 0, auth = 0, verify = 0 } = {}) => ({
    with: {
      ...HERE,
      gh: [
        'printf "%s\\n" "$*" >>"$HOME/asked"',
        `case "$*" in *--help) exit ${knows} ;; auth*) exit ${auth} ;; esac`,
        `echo "no attestations found" >&2; exit ${verify}`,
      ].join("\n"),
    },
  });
  const asked = async ({ home }: Machine) => (await readFile(join(home, "asked"), "utf8")).trim().split("\n");

  test("and installs an archive that has one", () =>
    onMachine(async ({ machine }) => {
      const { exitCode, stdout } = await machine.install({ env });
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: expect.stringContaining("somebody/plexus built"),
      });
      expect((await asked(machine)).at(-1)).toMatch(/^attestation verify \S+\/archive --repo somebody\/plexus$/);
    }, gh()));

  test("and installs nothing when it is wrong", () =>
    onMachine(
      async ({ machine }) =>
        expectRefusal(
          machine,
          env,
          /linux-x64\.tar\.gz has no valid attestation of somebody\/plexus: nothing was installed.*no attestations found/,
        ),
      gh({ verify: 1 }),
    ));

  test("of the repository from which the release is downloaded", () =>
    onMachine(
      async ({ machine, mirror }) => {
        const url = "https://github.com/somebody/else/releases/latest/download";
        const { exitCode, stdout } = await machine.install({
          env: { PLEXUS_DOWNLOAD_URL: url, FOLDER: mirror.folder },
        });
        expect({ exitCode, stdout }).toEqual({
          exitCode: 0,
          stdout: expect.stringContaining("somebody/else built"),
        });
      },
      {
        with: {
          ...gh().with,
          // Copies the requested file from a folder, whatever the host.
          curl: `while [ $# -gt 1 ]; do [ "$1" != -o ] || out=$2; shift; done; exec ${Bun.which("cp")} "$FOLDER/\${1##*/}" "$out"`,
        },
      },
    ));

  test.each([
    ["gh is not installed", env, { with: HERE }],
    ["this gh is too old", env, gh({ knows: 1 })],
    ["gh is not signed in", env, gh({ auth: 1 })],
    ["its repository is not known", {}, gh()],
  ])("or says why it did not: %s", (reason, given, stubs) =>
    onMachine(async ({ machine }) => {
      const { exitCode, stdout, stderr } = await machine.install({ env: given });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain(`Its attestation was not checked: ${reason}`);
      expect(stdout).toContain(archiveOf("linux-x64"));
    }, stubs),
  );

  test("and refuses an invalid repository name", () =>
    onMachine(async ({ machine }) => {
      await expectRefusal(machine, { PLEXUS_REPOSITORY: "a/b --owner c" }, /is not a repository/);
    }, gh()));
});
