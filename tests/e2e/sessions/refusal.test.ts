import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startFamily } from "../../support/sessions/family.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

setDefaultTimeout(120_000);

const isRoot = process.getuid?.() === 0;

describe("a claude that can't be started is an error that says what to do", () => {
  test.each([
    ["that is not there", undefined, 0, /not an executable file.*--claude/],
    ["that is not executable", "#!/bin/sh\n", 0o644, /not an executable file.*--claude/],
    ["that is not Claude Code", "#!/bin/sh\necho hello\n", 0o755, /not the Claude Code CLI.*--claude/],
    ["that no system can run", "\u0000\u0001", 0o755, /--claude/],
  ])("%s", async (_, content, mode, message) => {
    await using directory = await temporaryDirectory();
    const claude = join(directory.path, "claude");
    if (content !== undefined) writeFileSync(claude, content, { mode });
    await using family = await startFamily({ flags: { claude } });
    await family.create("childless");
    for (const tool of ["claudecode_chat", "claudecode_chat_async"] as const) {
      const refusal = await family.refused(tool, { name: "childless", prompt: "go" });
      expect(refusal).toEqual({ code: "claude_unavailable", message: expect.stringMatching(message) });
      expect(refusal.message).toContain(claude);
    }
    expect(await family.call("claudecode_poll", { name: "childless" })).toMatchObject({ status: "idle" });
  });
});

describe("a refusal names the existing things", () => {
  test("for an unknown session names the caller's newest sessions, and no one else's", async () => {
    await using family = await startFamily();
    const refusal = () => family.refused("claudecode_poll", { name: "absent" });
    const message = async () => (await refusal()).message;
    expect(await message()).toBe('There is no session "absent". You have none: start one (claudecode_run).');
    const { token } = await family.plexus.app.tokens.createNamed("other");
    const other = await family.plexus.connect(token);
    await other.call("claudecode_create", { name: "secret", working_dir: family.place });
    await family.create("one");
    await family.parent.call("loopback_configure", { name: "two" });
    expect(await message()).toBe('There is no session "absent". You have: "two", "one".');
    for (const name of ["three", "four", "five", "six"]) await family.create(name);
    expect(await message()).toBe(
      'There is no session "absent". You have: "six", "five", "four", "three", "two", and others (claudecode_list).',
    );
    const theirs = await other.call("claudecode_poll", { name: "one" });
    expect(theirs.value["message"]).toBe('There is no session "one". You have: "secret".');
  });

  test("for a taken name suggests another name or the existing session, and both work", async () => {
    await using family = await startFamily();
    await family.create("taken");
    for (const [tool, asked] of [
      ["claudecode_create", { name: "taken" }],
      ["claudecode_fork", { name: "taken", new_name: "taken" }],
    ] as const) {
      const { code, message } = await family.refused(tool, asked);
      expect(code).toBe("name_taken");
      expect(message).toContain("claudecode_get");
      expect(message).not.toContain("session_id");
    }
  });

  test("never suggests giving work to a claude started by hand", async () => {
    await using family = await startFamily();
    await family.parent.call("loopback_configure", { name: "by hand" });
    for (const view of ["events", "summary"]) {
      const { value } = await family.parent.call("claudecode_poll", { name: "by hand", view });
      expect(value["next"]).toContain("loopback_wait");
      expect(value["next"]).not.toContain("chat");
    }
    const { message } = await family.refused("claudecode_chat", { name: "by hand", prompt: "go" });
    expect(message).toContain("claudecode_create");
  });
});

describe("a working directory that is unfit for a child is refused", () => {
  const invalid = (message: RegExp) => ({ code: "invalid_arguments", message: expect.stringMatching(message) });

  test("when it is created: absent, a file, or outside of --workspace, by a link too", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["root", "root-not", "root/inside"]) mkdirSync(at(name));
    writeFileSync(at("root/file"), "");
    symlinkSync(at("root-not"), at("root/link"));
    await using family = await startFamily({ flags: { workspace: at("root") } });
    const refused = (path: string) => family.refused("claudecode_create", { name: "placed", working_dir: at(path) });
    expect(await refused("root/absent")).toEqual(invalid(/root\/absent does not exist/));
    expect(await refused("root/file")).toEqual(invalid(/is a file/));
    expect(await refused("root/file/below")).toEqual(invalid(/does not exist/));
    for (const outside of ["root-not", "root/link", "root/..", ""]) {
      expect(await refused(outside)).toEqual(invalid(/outside of the workspace.*--workspace/));
    }
    await family.create("placed", { working_dir: at("root/inside") });
    await family.create("unplaced", { working_dir: null });
    const { config } = await family.call("claudecode_get", { name: "unplaced" });
    expect(config.working_dir).toBe(at("root"));
  });

  test("when it has gone since", async () => {
    await using directory = await temporaryDirectory();
    await using family = await startFamily();
    await family.create("homeless", { working_dir: directory.path });
    await directory[Symbol.asyncDispose]();
    const refusal = await family.refused("claudecode_chat_async", { name: "homeless", prompt: "go" });
    expect(refusal).toEqual(invalid(/does not exist/));
    expect(family.children()).toEqual([]);
    mkdirSync(directory.path);
    expect((await family.run("homeless", [{ say: "home again" }])).status).toBe("complete");
  });

  test("when it holds tokens, and as soon as a directory has become a link there", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["project", "project/more", "moved"]) mkdirSync(at(name));
    await using family = await startFamily();
    for (const [path, problem] of [
      [family.plexus.dataDir, /lies in Plexus's data dir.*--workspace/],
      [family.home, /is a home directory.*--workspace/],
      ["/", /holds/],
    ] as const) {
      const asked = { name: "curious", working_dir: at("project") };
      expect(await family.refused("claudecode_create", { ...asked, working_dir: path })).toEqual(invalid(problem));
      expect(await family.refused("claudecode_create", { ...asked, add_dirs: [path] })).toEqual(invalid(problem));
    }
    await family.create("patient", { working_dir: at("project"), add_dirs: ["more"] });
    const { config } = await family.call("claudecode_get", { name: "patient" });
    expect(config.add_dirs).toEqual([at("project/more")]);
    rmdirSync(at("project/more"));
    symlinkSync(family.plexus.dataDir, at("project/more"));
    const chat = { name: "patient", prompt: "go" };
    expect(await family.refused("claudecode_chat_async", chat)).toEqual(invalid(/^add_dirs .*data dir/));
    renameSync(at("project"), at("moved/project"));
    symlinkSync(family.home, at("project"));
    expect(await family.refused("claudecode_chat", chat)).toEqual(invalid(/^working_dir .*is a home directory/));
    expect(family.children()).toEqual([]);
  });

  test.skipIf(isRoot)("when this user may not enter it", async () => {
    await using directory = await temporaryDirectory();
    await using family = await startFamily();
    chmodSync(directory.path, 0o000);
    const refusal = await family.refused("claudecode_create", { name: "shut", working_dir: directory.path });
    chmodSync(directory.path, 0o700);
    expect(refusal).toEqual(invalid(/can't be read by this user/));
  });
});
