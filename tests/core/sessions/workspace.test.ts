import { describe, expect, test } from "bun:test";
import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { homesOf } from "../../../src/core/sessions/homes.ts";
import { createWorkspace } from "../../../src/core/sessions/workspace.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const PLACES = [
  "home/me/.claude",
  "home/me/state/plexus/turns",
  "home/me/project",
  "home/you",
  "root/project",
  "other",
];

describe("a working directory", () => {
  test("is where the server was started, unless another is given", async () => {
    await using place = await openPlace();
    const workspace = place.workspace({ startedIn: "home/me/project" });
    expect(workspace.directories({}).working_dir).toBe(place.at("home/me/project"));
    expect(workspace.directories({ working_dir: place.at("other") }).working_dir).toBe(place.at("other"));
  });

  test("must lie in a root, is the first root by default, and follows no link out of it", async () => {
    await using place = await openPlace();
    symlinkSync(place.at("other"), place.at("root/link"));
    mkdirSync(place.at("root-but-not-it"));
    const { directories } = place.workspace({ roots: ["root"], startedIn: "other" });
    expect(directories({}).working_dir).toBe(place.at("root"));
    expect(directories({ working_dir: place.at("root/project") }).working_dir).toBe(place.at("root/project"));
    for (const path of [place.at("other"), place.at("root-but-not-it"), place.at("root/link"), "/"]) {
      expect(() => directories({ working_dir: path })).toThrow(`working_dir ${path} is outside of the workspace`);
    }
  });

  test("that is missing or a file is refused, and the error says what to do", async () => {
    await using place = await openPlace();
    writeFileSync(place.at("file"), "");
    const { directories } = place.workspace();
    expect(() => directories({ working_dir: place.at("none") })).toThrow("does not exist");
    expect(() => directories({ working_dir: place.at("file") })).toThrow("is a file");
  });

  test("that defaults to a home directory is refused, and the error says what to do", async () => {
    await using place = await openPlace();
    const { directories } = place.workspace({ startedIn: "home/me", homes: ["home/me"] });
    const message = "is a home directory, where keys and tokens lie: it is where the server was started. ";
    expect(() => directories({})).toThrow(`${message}Name a working_dir, or start the server with --workspace.`);
  });
});

describe("an added directory", () => {
  test("is relative to the working directory, and stored as its real path", async () => {
    await using place = await openPlace();
    symlinkSync(place.at("other"), place.at("root/link"));
    const { add_dirs } = place
      .workspace()
      .directories({ working_dir: place.at("root"), add_dirs: ["project", "link", place.at("home/me/project")] });
    expect(add_dirs).toEqual([place.at("root/project"), place.at("other"), place.at("home/me/project")]);
  });

  test("must lie in a root like a working directory, and must exist", async () => {
    await using place = await openPlace();
    symlinkSync(place.at("other"), place.at("root/link"));
    const { directories } = place.workspace({ roots: ["root"] });
    for (const path of [place.at("other"), "..", "link"]) {
      expect(() => directories({ add_dirs: [path] })).toThrow(/add_dirs .* is outside of the workspace/);
    }
    expect(() => directories({ add_dirs: ["none"] })).toThrow(/add_dirs .*none does not exist/);
  });
});

describe("no child may work where tokens are", () => {
  const DATA = "home/me/state/plexus";
  const REFUSED: Record<string, string> = {
    [DATA]: "lies in Plexus's data dir",
    [`${DATA}/turns`]: "lies in Plexus's data dir",
    "home/me/state": "holds Plexus's data dir",
    "home/me/.claude": "lies in Claude Code's own directory",
    "home/you": "is a home directory",
    "a-link": "lies in Plexus's data dir",
    "home-of-all": "holds the home directory",
  };

  for (const [path, problem] of Object.entries(REFUSED)) {
    test(`${path}: ${problem}`, async () => {
      await using place = await openPlace();
      symlinkSync(place.at(DATA), place.at("a-link"));
      mkdirSync(place.at("home-of-all/someone"), { recursive: true });
      const { directories } = place.workspace({ homes: ["home-of-all/someone", "home/you"] });
      const whole = `${place.at(path)} ${problem}`;
      expect(() => directories({ working_dir: place.at(path) })).toThrow(`working_dir ${whole}`);
      expect(() => directories({ add_dirs: [place.at(path)] })).toThrow(`add_dirs ${whole}`);
      expect(() => directories({ working_dir: place.at(path) })).toThrow("--workspace");
    });
  }

  test("below Claude Code's own directory, or in a home's directories of keys", async () => {
    await using place = await openPlace();
    for (const path of ["home/me/.claude/projects", "home/me/.ssh/keys"])
      mkdirSync(place.at(path), { recursive: true });
    const { directories } = place.workspace({ homes: ["home/me"] });
    const refusal = (path: string) => () => directories({ working_dir: place.at(path) });
    expect(refusal("home/me/.claude/projects")).toThrow("lies in Claude Code's own directory");
    expect(refusal("home/me/.ssh/keys")).toThrow("where keys and tokens are");
    expect(() => directories({ working_dir: "/proc/self" })).toThrow("is no directory of files");
  });

  test("in the root directory, or a home that is known by a link", async () => {
    await using place = await openPlace();
    symlinkSync(place.at("home/me"), place.at("linked-home"));
    const { directories } = place.workspace({ homes: ["linked-home"] });
    expect(() => directories({ working_dir: "/" })).toThrow("working_dir / holds");
    expect(() => directories({ working_dir: place.at("home/me") })).toThrow("is a home directory");
  });

  test("unless the operator has named this very directory", async () => {
    await using place = await openPlace();
    for (const named of ["home/me", "home/me/state", "home/you", "home/me/.claude", DATA]) {
      const { directories } = place.workspace({ roots: [named], homes: ["home/me", "home/you"] });
      expect(directories({ working_dir: place.at(named) }).working_dir).toBe(place.at(named));
    }
    const above = place.workspace({ roots: ["home"], homes: ["home/me", "home/you"] });
    expect(() => above.directories({ working_dir: place.at("home/me") })).toThrow("is a home directory");
    expect(() => above.directories({ working_dir: place.at("home/me/state") })).toThrow("holds Plexus's data dir");
    expect(() => above.directories({ working_dir: place.at("home/you") })).toThrow("is a home directory");
    expect(() => above.directories({ working_dir: place.at(DATA) })).toThrow("lies in Plexus's data dir");
    expect(above.directories({ working_dir: place.at("home/me/project") }).add_dirs).toEqual([]);
  });

  test("unless --workspace names a directory below the data dir", async () => {
    await using place = await openPlace();
    mkdirSync(place.at(`${DATA}/work/project`), { recursive: true });
    const { directories } = place.workspace({ roots: [`${DATA}/work`] });
    expect(directories({ working_dir: place.at(`${DATA}/work/project`) }).add_dirs).toEqual([]);
  });

  test("when a stored directory has become a link to there", async () => {
    await using place = await openPlace();
    const { directories } = place.workspace();
    const stored = directories({ working_dir: place.at("root"), add_dirs: ["project"] });
    expect(directories(stored)).toEqual(stored);
    rmdirSync(place.at("root/project"));
    symlinkSync(place.at(DATA), place.at("root/project"));
    expect(() => directories(stored)).toThrow(/add_dirs .*root\/project lies in Plexus's data dir/);
  });
});

test("homes are this user's, and those of accounts with a login", async () => {
  await using place = await openPlace();
  const account = (name: string, path: string, shell: string) => `${name}:x:1000:1000:,,,:${path}:${shell}`;
  const accounts = [
    account("me", place.at("home/me"), "/bin/zsh"),
    account("you", place.at("home/you"), "/bin/bash"),
    account("www", place.at("root"), "/usr/sbin/nologin"),
    account("gone", place.at("home/gone"), "/bin/bash"),
    account("odd", "/", "/bin/bash"),
    "",
  ];
  writeFileSync(place.at("passwd"), accounts.join("\n"));
  const mine = place.at("home/me");
  expect(homesOf(mine, place.at("passwd"))).toEqual([mine, place.at("home/you")]);
  expect(homesOf(mine, place.at("no such list"))).toEqual([mine]);
});

type Given = Partial<{ roots: string[]; startedIn: string; homes: string[] }>;

/** A machine with two people; one of them runs the server. */
async function openPlace() {
  const directory = await temporaryDirectory();
  const at = (path: string) => join(directory.path, path);
  for (const path of PLACES) mkdirSync(at(path), { recursive: true });
  return {
    at,
    workspace: ({ roots = [], startedIn = "root", homes = [] }: Given = {}) =>
      createWorkspace({
        roots: roots.map(at),
        startedIn: at(startedIn),
        dataDir: at("home/me/state/plexus"),
        homes: homes.map(at),
        claudeDir: at("home/me/.claude"),
      }),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
