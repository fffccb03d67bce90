import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR } from "../open-core.ts";
import { BASH, ruling, startRuled } from "./ruled.ts";

const TOUCH = { match: "Bash(touch *)" };

test("a token's allowed_tools count only inside its grant, and it can't make an unsupervised session", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent", ["Bash(touch *)"]);
  const { sessionCommands, tokens } = plexus.app;
  const asked = { name: "a", working_dir: plexus.place, allowed_tools: ["Bash(touch *)", "Bash(mkdir *)"] };
  const session = await sessionCommands.create(principal, asked);
  expect(await ruling(plexus, session, BASH("touch x"))).toMatchObject({ by: "builtin:allowed_tools" });
  expect(await ruling(plexus, session, BASH("mkdir x"))).toMatchObject({ status: "pending" });
  for (const unasked of [{ supervision: "inherit" }, { loopback_enabled: false }] as const) {
    const made = sessionCommands.create(principal, { name: "b", working_dir: plexus.place, ...unasked });
    await expect(made).rejects.toMatchObject({ code: "forbidden" });
    await expect(sessionCommands.update(principal, session, unasked)).rejects.toMatchObject({ code: "forbidden" });
  }
  await tokens.revoke("agent");
  expect(await ruling(plexus, session, BASH("touch y"))).toMatchObject({ status: "pending" });
});

test("a path that can't be followed to its end evades no deny rule", async () => {
  await using plexus = await startRuled();
  const at = (name: string) => join(plexus.place, name);
  for (const name of ["d", "src/gen"]) mkdirSync(at(name), { recursive: true });
  symlinkSync(`${"d/../".repeat(800)}p2`, at("p1"));
  symlinkSync(`${"d/../".repeat(800)}src/gen`, at("p2"));
  await plexus.add({ decision: "allow", match: "Edit(./src/**)" });
  await plexus.add({ decision: "deny", match: "Edit(./src/gen/**)" });
  const session = await plexus.session();
  const write = (path: string) => ruling(plexus, session, ["Write", { file_path: at(path), content: "" }]);
  expect(await write("src/a.ts")).toMatchObject({ status: "allowed" });
  expect(await write("src/gen/a.ts")).toMatchObject({ status: "denied" });
  expect(await write("p1/a.ts")).toMatchObject({ status: "pending" });
});

test("a token that changes its session's rules does not change the operator's rules", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const { sessionCommands, sessions } = plexus.app;
  const given = { name: "a", working_dir: plexus.place, rules: [{ decision: "allow", ...TOUCH }] } as const;
  const session = await sessionCommands.create(principal, { ...given, rules: [...given.rules] });
  const again = () => sessions.require(principal, session.id);
  await sessionCommands.update(OPERATOR, await again(), { rules: [{ decision: "deny", ...TOUCH }] });
  await sessionCommands.update(principal, await again(), { rules: [{ decision: "allow", ...TOUCH }] });
  expect(await ruling(plexus, session, BASH("touch x"))).toMatchObject({ status: "denied" });
  const fork = await sessionCommands.fork(principal, await again(), "fork");
  await sessionCommands.update(principal, fork, { rules: [] });
  expect(await ruling(plexus, fork, BASH("touch x"))).toMatchObject({ status: "denied" });
});

test("a fork gets no further uses of a limited rule", async () => {
  await using plexus = await startRuled();
  const { principal } = await plexus.token("agent");
  const { sessionCommands, sessions } = plexus.app;
  const session = await sessionCommands.create(principal, { name: "a", working_dir: plexus.place });
  await sessionCommands.update(OPERATOR, session, { rules: [{ decision: "allow", ...TOUCH, uses: 1 }] });
  const fork = await sessionCommands.fork(principal, await sessions.require(principal, session.id), "fork");
  expect(await ruling(plexus, fork, BASH("touch x"))).toMatchObject({ status: "pending" });
});

test("neither a search of the working directory nor another name of a shell evades a rule", async () => {
  await using plexus = await startRuled();
  plexus.write("secrets/k", "KEY=1\n");
  await plexus.add({ decision: "deny", match: "Read(./secrets/**)" });
  for (const match of ["Bash", "Bash(grep *)", "Bash(rg *)"]) await plexus.add({ decision: "allow", match });
  const session = await plexus.session();
  const searches = ["grep -r KEY", "rg --hidden KEY", "git grep --untracked KEY", "ugrep -r KEY"];
  const shells = ["rbash -c id", "bash-static -c id", "genv id", "python3-dbg x.py", "git-push", "capsh -- -c id"];
  for (const command of [...searches, ...shells])
    expect({ command, ...(await ruling(plexus, session, BASH(command))) }).toMatchObject({
      command,
      status: "pending",
    });
});

test("a call that might be denied needs approval beside every kind of wildcard", async () => {
  await using plexus = await startRuled();
  plexus.write("docs/a.md");
  const { sessionCommands } = plexus.app;
  await plexus.add({ decision: "deny", match: "Bash(git push)" });
  await plexus.add({ decision: "deny", match: "Edit(./docs/**)" });
  const named = { name: "a", working_dir: plexus.place, allowed_tools: ["Bash"] };
  const byName = await sessionCommands.create(OPERATOR, named);
  const byRule = await plexus.session("b");
  await plexus.add({ decision: "allow", match: "Bash" });
  for (const session of [byName, byRule]) {
    const status = async (command: string) => (await ruling(plexus, session, BASH(command))).status;
    expect(await status("mywrap git status")).toBe("allowed");
    expect(await status("git push origin")).toBe("denied");
    expect(await status("mywrap git push")).toBe("pending");
    expect(await status("prettier --write docs/a.md")).toBe("pending");
    expect(await status("prettier --check docs/a.md")).toBe("allowed");
  }
});

test("a deny rule in shadow mode stops nothing", async () => {
  await using plexus = await startRuled();
  await plexus.add({ decision: "deny", match: "Bash(git push)", mode: "shadow" });
  await plexus.add({ decision: "allow", match: "Bash" });
  const session = await plexus.session();
  expect(await ruling(plexus, session, BASH("mywrap git push"))).toMatchObject({ status: "allowed" });
});
