import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as tar from "tar";
import manifest from "../../package.json" with { type: "json" };
import { TARGETS, wayToRun } from "../../scripts/release/targets.ts";
import { sourceCommit } from "../../scripts/source-commit.ts";
import { ROOT } from "../readme/readme.ts";
import { startServerProcess } from "../support/server/server-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";
import { prepareMachine } from "./installing.ts";
import { serveFolder } from "./mirror.ts";
import { startForgingRegistry } from "./registry.ts";

setDefaultTimeout(180_000);

const native = TARGETS.find((target) => {
  const way = wayToRun(target);
  return "launcher" in way && way.launcher.length === 0;
});
const archive = `plexus-${manifest.version}-${native?.name}.tar.gz`;

describe.skipIf(native === undefined)(`npm run release, for ${native?.name}`, () => {
  let place: TemporaryDirectory;
  let out: string;
  let stdout: string;

  // Built once, because it takes long.
  beforeAll(async () => {
    place = await temporaryDirectory();
    out = join(place.path, "release");
    ({ stdout } = await released(["--out", out, "--download-url", "https://example.com/latest/download/"]));
  });
  afterAll(() => place[Symbol.asyncDispose]());

  test("creates an archive with its checksum, a bill of materials and the installer, and runs it", async () => {
    expect(stdout).toContain(`${archive} `);
    expect(stdout).toContain("ran: version, serve, healthcheck, stop");
    const made = ["SHA256SUMS", "install.sh", archive, `plexus-${manifest.version}.cdx.json`];
    expect((await readdir(out)).sort()).toEqual(made);
  });

  test("creates a release that a user can install, and upgrade under a running server", async () => {
    await using directory = await temporaryDirectory();
    await using mirror = serveFolder(out);
    const machine = prepareMachine(directory.path, { url: mirror.url });
    const said = `Installed plexus ${manifest.version} (${sourceCommit()?.id})`;
    expect(await machine.install()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(said) });
    const dataDir = join(directory.path, "data");
    await mkdir(dataDir);
    await using server = await startServerProcess({ program: [machine.plexus], dataDir });
    const before = (await stat(machine.plexus)).ino;
    expect(await machine.install()).toMatchObject({ exitCode: 0 });
    expect((await stat(machine.plexus)).ino).not.toBe(before);
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: "ok" });
  });

  test("produces the same checksums for the same sources in any directory", async () => {
    const other = join(place.path, "deep", "down", "other");
    await released(["--out", other, "--download-url", "https://example.com/latest/download/"]);
    const sums = await readFile(join(out, "SHA256SUMS"), "utf8");
    expect(sums).toMatch(/^([0-9a-f]{64} {2}\S+\n){3}$/);
    expect(await readFile(join(other, "SHA256SUMS"), "utf8")).toBe(sums);
  });

  test("packs the licence, and nothing from this machine", async () => {
    await using directory = await temporaryDirectory();
    await tar.extract({ file: join(out, archive), cwd: directory.path });
    expect(await readdir(directory.path)).toEqual(expect.arrayContaining(["plexus", "LICENSE"]));
    const text = (await readFile(join(directory.path, "plexus"))).toString("latin1");
    expect(text.includes(ROOT)).toBe(false);
  });

  test("writes the download address into the installer", async () => {
    const script = await readFile(join(out, "install.sh"), "utf8");
    expect(script).toContain("DEFAULT_DOWNLOAD_URL='https://example.com/latest/download'\n");
  });
});

describe("npm run release refuses", () => {
  test("a Bun that is not in the lockfile", async () => {
    await using directory = await temporaryDirectory();
    await using registry = await startForgingRegistry(directory.path);
    const out = join(directory.path, "release");
    const { exitCode, stderr } = await release(["--only", "darwin-arm64", "--out", out], {
      npm_config_registry: registry.url,
      npm_config_cache: join(directory.path, "cache"),
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("is not what the lockfile knows"),
    });
    expect(existsSync(out)).toBe(false);
  });

  test("a platform whose Bun can't be downloaded, and names it", async () => {
    await using directory = await temporaryDirectory();
    const { exitCode, stderr } = await release(["--only", "windows-x64", "--out", join(directory.path, "release")], {
      npm_config_registry: "http://127.0.0.1:1",
      npm_config_fetch_retries: "0",
      npm_config_cache: join(directory.path, "cache"),
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /windows-x64 can't be made: @oven\/bun-windows-x64@\S+, which it runs on, could not be fetched/,
    );
    expect(await readdir(directory.path)).toEqual(["cache"]);
  });

  test("a tag that does not match the version", async () => {
    const { exitCode, stderr } = await release(["--tag", "v0.0.0-other"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("The tag is v0.0.0-other") });
  });

  test("an unknown platform, and prints the usage", async () => {
    const { exitCode, stderr } = await release(["--only", "linux-z80"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("--only TARGETS") });
  });
});

async function released(args: string[]): Promise<{ stdout: string }> {
  const { exitCode, stdout, stderr } = await release([...args, "--only", native?.name ?? ""]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return { stdout };
}

async function release(args: string[], env: Record<string, string> = {}) {
  const releasing = Bun.spawn([process.execPath, join(ROOT, "scripts", "release.ts"), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([releasing.stdout.text(), releasing.stderr.text()]);
  return { exitCode: await releasing.exited, stdout, stderr };
}
