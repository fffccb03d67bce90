import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, realpathSync } from "node:fs";
import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { ApprovalContext } from "../../../src/contract/approvals/approval-context.ts";
import { dangersOf } from "../../../src/review/dangers.ts";
import { requested, rulesOf } from "../../review/requested.ts";
import { type Plexus, startPlexus } from "../../support/server/plexus.ts";
import { startFamily } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { asker } from "../../web/support/requester.ts";
import { expectRefusal } from "../support/callers.ts";

setDefaultTimeout(60_000);

const Told = ApprovalContext.loose();

async function contextOf(plexus: Plexus, id: string): Promise<ApprovalContext> {
  const response = await plexus.fetch(`/api/v1/approvals/${id}/context`);
  expect(response.status).toBe(200);
  return Told.parse(await response.json());
}

type Asked = {
  plexus: Plexus;
  at: (name: string) => string;
  /** The context of a call in a session that works in this directory. */
  context: (tool: string, input: object) => Promise<ApprovalContext>;
  fileAt: (path: string, tool?: string) => Promise<unknown>;
};

/** A directory in which a session works in `work`; the user's home is `home`. */
async function inDirectory(body: (asked: Asked) => Promise<void>) {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(realpathSync(directory.path), name);
  for (const name of ["work", "home"]) mkdirSync(at(name));
  await using plexus = await startPlexus({ environment: { HOME: at("home") } });
  const client = await plexus.connect();
  const { value } = await client.call("claudecode_create", { name: "worker", working_dir: at("work") });
  const child = await asker(plexus, "worker", String(value["id"]));
  const context = async (tool: string, input: object) => contextOf(plexus, (await child.ask(tool, input)).id);
  const fileAt = async (file_path: string, tool = "Write") => (await context(tool, { file_path, content: "new" })).file;
  await body({ plexus, at, context, fileAt });
}

describe("the context of an approval", () => {
  test("contains the present text of the file that the call would change", () =>
    inDirectory(async ({ at, fileAt }) => {
      await writeFile(at("work/a.txt"), "old\n");
      expect(await fileAt(at("work/a.txt"))).toEqual({ state: "text", path: at("work/a.txt"), text: "old\n" });
      expect(await fileAt("a.txt")).toEqual({ state: "text", path: at("work/a.txt"), text: "old\n" });
      expect(await fileAt(at("none.txt"))).toEqual({ state: "absent", path: at("none.txt") });
    }));

  test("gives a reason if it shows no file, and never fails or waits", () =>
    inDirectory(async ({ at, fileAt }) => {
      await writeFile(at("binary"), new Uint8Array([1, 0, 2]));
      await writeFile(at("large"), "");
      await truncate(at("large"), 2 * 1024 * 1024);
      await mkdir(at("folder"));
      Bun.spawnSync(["mkfifo", at("pipe")]);
      await symlink(at("loop"), at("loop"));
      for (const name of ["binary", "large", "folder", "pipe", "loop"]) {
        expect(await fileAt(at(name))).toMatchObject({ state: "unshown", reason: expect.any(String) });
      }
      expect(await fileAt(`/${"x".repeat(5_000)}`)).toMatchObject({ state: "unshown" });
      expect(await fileAt("/a\u0000b")).toMatchObject({ state: "unshown" });
    }));

  test("never contains a file of the data dir or a copy of settings with a token, by any path", () =>
    inDirectory(async ({ plexus, at, fileAt }) => {
      const secret = join(plexus.dataDir, "plexus.db");
      await symlink(secret, at("link"));
      await symlink(plexus.dataDir, at("folder"));
      const copy = at("home/.claude.json.20260101T000000000Z.backup");
      await writeFile(copy, "a token");
      for (const path of [
        secret,
        copy,
        at("link"),
        join(at("folder"), "plexus.db"),
        `${at("folder")}/../folder/plexus.db`,
      ]) {
        expect(await fileAt(path)).toMatchObject({
          state: "unshown",
          reason: "it holds settings or tokens that no child may reach",
        });
      }
    }));

  test("contains no file for a tool that changes none, and nothing once the approval is decided", () =>
    inDirectory(async ({ plexus, at, fileAt }) => {
      await writeFile(at("work/a.txt"), "old\n");
      expect(await fileAt(at("work/a.txt"), "Read")).toBeNull();
      const child = await asker(plexus);
      const { id } = await child.ask("Write", { file_path: at("work/a.txt"), content: "new" });
      await plexus.app.approvals.decide({ kind: "operator" }, id, { approve: false });
      const response = await plexus.fetch(`/api/v1/approvals/${id}/context`);
      const nothing = { working_dir: null, file: null, real_path: null, plan: null, skill: null };
      expect(await response.json()).toEqual({ type: "ok", ...nothing });
    }));

  test("is visible only to those who may decide; for others there is no such approval", () =>
    inDirectory(async ({ plexus, at }) => {
      const child = await asker(plexus);
      const { id } = await child.ask("Write", { file_path: at("a.txt"), content: "new" });
      const { token } = await plexus.app.tokens.createNamed("other");
      await expectRefusal(await plexus.fetch(`/api/v1/approvals/${id}/context`, { token }), 404, "not_found");
    }));

  test("reads no file of this host for a claude started by hand", () =>
    inDirectory(async ({ plexus, at }) => {
      await writeFile(at("work/a.txt"), "old\n");
      const child = await asker(plexus);
      for (const [tool, input] of [
        ["Write", { file_path: at("work/a.txt"), content: "new" }],
        ["Write", { file_path: "a.txt", content: "new" }],
        ["Skill", { skill: "deploy" }],
      ] as const) {
        const { id } = await child.ask(tool, input);
        expect(await contextOf(plexus, id)).toMatchObject({ file: null, real_path: null, skill: null });
      }
    }));
});

describe("the real path of an approval", () => {
  test("follows links, resolves .. and ~ as Claude Code does, and places a new file below its real parent", () =>
    inDirectory(async ({ at, context }) => {
      mkdirSync(at("home/.ssh"));
      mkdirSync(at("work/src"));
      await symlink(at("home/.ssh"), at("work/docs"));
      await symlink("../home/.ssh/../.ssh/authorized_keys", at("work/notes"));
      await symlink("docs", at("work/twice"));
      for (const [written, real] of [
        [at("work/docs/authorized_keys"), at("home/.ssh/authorized_keys")],
        ["docs/config", at("home/.ssh/config")],
        ["twice/deep/new", at("home/.ssh/deep/new")],
        // The link's target doesn't exist yet: writing there creates it.
        ["notes", at("home/.ssh/authorized_keys")],
        ["docs/../src/a", at("work/src/a")],
        ["src/../../home/.ssh/id", at("home/.ssh/id")],
        ["~/.ssh/id", at("home/.ssh/id")],
        [" ~/.ssh/id", at("home/.ssh/id")],
        ["src/new/a.ts", at("work/src/new/a.ts")],
      ] as const) {
        expect({ written, ...(await context("Write", { file_path: written, content: "x" })) }).toMatchObject({
          written,
          real_path: real,
        });
      }
      expect((await context("NotebookEdit", { notebook_path: "docs/n.ipynb" })).real_path).toBe(
        at("home/.ssh/n.ipynb"),
      );
    }));

  test("is null if a call names no file, or if the path can't be resolved", () =>
    inDirectory(async ({ at, context }) => {
      await symlink("loop", at("work/loop"));
      await symlink("none/../a", at("work/detour"));
      expect((await context("Write", { file_path: "detour", content: "x" })).real_path).toBeNull();
      expect((await context("Bash", { command: "make", file_path: "a" })).real_path).toBeNull();
      expect((await context("Write", { file_path: ["a"], content: "x" })).real_path).toBeNull();
      expect((await context("Write", { file_path: "loop/a", content: "x" })).real_path).toBeNull();
      expect((await context("Write", { file_path: "a\u0000b", content: "x" })).real_path).toBeNull();
    }));
});

describe("a link that the child and Plexus resolve differently", () => {
  test("is not followed: the real path is unknown, no file is shown, and a danger is reported", () =>
    inDirectory(async ({ at, context }) => {
      // For this process the link leads to a plain file of the project; for a child in another directory, it may lead
      // anywhere.
      mkdirSync(at("work/d"));
      await writeFile(at("work/d/config"), "# nothing\n");
      const here = relative("/", at("work/d"));
      await symlink(`/proc/self/cwd${"/..".repeat(20)}/${here}`, at("work/docs"));
      const input = { file_path: at("work/docs/config"), content: "Host *" };
      const told = await context("Write", input);
      expect(told).toMatchObject({ real_path: null, file: { state: "unshown" } });
      expect(dangersOf(requested("Write", input), told)).toEqual([
        {
          rule: "unreadable",
          message: "leads through a link that can't be followed, or into /proc, /dev or /sys",
        },
      ]);
      expect(rulesOf(dangersOf(requested("Read", input), told))).toEqual(["unreadable"]);
    }));

  test("does not make Plexus read an endless file", () =>
    inDirectory(async ({ at, fileAt, context }) => {
      await symlink("/proc/self", at("work/docs"));
      mkdirSync(at("work/.claude/skills/x"), { recursive: true });
      await symlink("/proc/self/pagemap", at("work/.claude/skills/x/SKILL.md"));
      expect(await fileAt(at("work/docs/pagemap"))).toMatchObject({ state: "unshown" });
      expect((await context("Skill", { skill: "x" })).skill).toBeNull();
    }));
});

describe("the skill of an approval", () => {
  test("is what Claude Code would load: the user's own before the project's", () =>
    inDirectory(async ({ at, context }) => {
      const write = async (directory: string, text: string) => {
        mkdirSync(at(directory), { recursive: true });
        await writeFile(at(`${directory}/SKILL.md`), text);
      };
      await write("work/.claude/skills/both", "the project's");
      await write("work/.claude/skills/deploy", "of the project alone");
      await write("home/.claude/skills/both", "the user's");
      const text = async (skill: unknown) => (await context("Skill", { skill })).skill;
      expect(await text("both")).toEqual({ path: at("home/.claude/skills/both/SKILL.md"), text: "the user's" });
      expect(await text("deploy")).toMatchObject({ text: "of the project alone" });
      await write("outside", "not a skill");
      for (const name of ["../../../outside", "none", "", ".", "..", "a\\b", 7]) expect(await text(name)).toBeNull();
      await write("work/.claude/skills/long", "x".repeat(300_000));
      expect((await text("long"))?.text.length).toBeLessThan(101_000);
    }));
});

describe("the plan of an approval", () => {
  test("is the plan in the child's call, even if the CLI asks without it", async () => {
    await using family = await startFamily();
    const id = await family.create("planner");
    const input = { plan: "1. Remove it all\n2. Start anew" };
    const enter = { name: "EnterPlanMode", input: {} };
    await family.start("planner", [{ use: [enter] }, { use: [{ name: "ExitPlanMode", input }] }]);
    await family.respond(await family.ask(id), { approve: true });
    const asked = await family.ask(id);
    expect(asked).toMatchObject({ tool_name: "ExitPlanMode", input: {} });
    expect((await contextOf(family.plexus, asked.id)).plan).toBe(input.plan);
    await family.respond(asked, { approve: false, message: "no" });
    await family.ended("planner");
  });
});
