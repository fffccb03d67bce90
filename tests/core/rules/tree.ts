import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildContext } from "../../../src/core/rules/tool-call.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

/** The content of every file that no built-in rule may let a child read. */
export const CANARY = "CANARY-7d1f";

export type Tree = AsyncDisposable & { root: string; child: ChildContext; strict: ChildContext };

/** A working directory with links, private files and traps in and around it. */
export async function plantTree(): Promise<Tree> {
  const directory = await temporaryDirectory();
  const at = (...names: string[]) => join(directory.path, ...names);
  const files: Record<string, string> = {
    "project/a.txt": "alpha\nbeta\ngamma\n",
    "project/b.txt": "beta\ndelta\n",
    "project/with space.txt": "spaced\n",
    "project/\u00e9.txt": "accent\n",
    "project/~": "a file called tilde\n",
    "project/ link-file": "what this names is another file once it is trimmed\n",
    "project/o\u0308.txt": "what this names is another file once it is composed\n",
    "project/tab\there": "tab\n",
    "project/-i": "an option\n",
    "project/src/x.ts": "export const x = 1; // TODO\n",
    "project/src/deep/z.ts": "export const z = 3;\n",
    "project/docs/readme.md": "# Read me\n",
    "project/docs/.gitignore": "build\n",
    "project/+f": "an old-style option\n",
    "project/ignoring/x.ts": "x\n",
    "project/nest/open.txt": "open\n",
    "project/nest/vault/key": CANARY,
    "project/nest/vault.backup": CANARY,
    "project/.git/config": "[core]\n",
    "project/.env": "SECRET=1\n",
    "project/linked/open.txt": "open\n",
    "added/c.txt": "gamma\n",
    "outside/secret.txt": CANARY,
    "outside/src/x.ts": CANARY,
    "project-sibling/s.txt": CANARY,
    "data/operator-token": CANARY,
    "data/turns/mcp.json": CANARY,
    "person/.claude/settings.json": CANARY,
    "person/notes/n.md": "a note\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(at(name), ".."), { recursive: true });
    writeFileSync(at(name), text);
  }
  const links: Record<string, string> = {
    "project/link-in": "src",
    "project/link-out": "../outside",
    "project/link-file": "../outside/secret.txt",
    "project/link-token": "../data/operator-token",
    "project/link-proc": "/proc/self/environ",
    "project/link-cwd": "/proc/self/cwd",
    "project/link-dev": "/dev/zero",
    "project/src/up": "../../outside",
    "project/\u00f6.txt": "../outside/secret.txt",
    "project/link-absolute": at("project/a.txt"),
    "project/detour": "none/../../outside/new.txt",
    "project/loop": "loop",
    "project/dangling": "../outside/new.txt",
    "project/to-hooks": ".git/hooks",
    "project/to-profile": "../outside/.bashrc",
    "project/to-invisible": "in\u200bvisible.txt",
    "project/linked/data": "../../data",
    "project/linked/a.txt": "../.git/config",
    "project/-n": "../outside/secret.txt",
    "project/-": "../outside/secret.txt",
    "project/src/-": "../../data/operator-token",
    "project/ignoring/.ignore": "../../outside/secret.txt",
    "project/-l": "../outside/secret.txt",
    "project/e\u0301.txt": "../outside/secret.txt",
    "project/5": "../outside/secret.txt",
    "project/[": "../outside/secret.txt",
    "project/*": "../outside/secret.txt",
    "project/a.txt ": "../outside/secret.txt",
    "added/link-project": "../project",
    "outside/back": "../project",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, at(name));
  linkSync(at("data/operator-token"), at("project/hard-token"));
  execFileSync("mkfifo", [at("project/fifo")]);
  const child: ChildContext = {
    supervision: "default",
    workingDir: at("project"),
    addDirs: [at("added")],
    privatePaths: [
      at("data"),
      at("data/operator-token"),
      at("person/.claude"),
      at("project/nest/vault"),
      at("project/not-yet"),
    ],
    home: at("person"),
  };
  return {
    root: directory.path,
    child,
    strict: { ...child, supervision: "strict" },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
