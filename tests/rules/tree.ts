import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../../src/rules/builtin.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** In every file that no built-in rule may let a child read. */
export const CANARY = "CANARY-7d1f";

export type Tree = AsyncDisposable & { root: string; place: Place; strict: Place };

/** A place to work with links, private files and traps in and around it. */
export async function plantTree(): Promise<Tree> {
  const directory = await temporaryDirectory();
  const at = (...names: string[]) => join(directory.path, ...names);
  const files: Record<string, string> = {
    "work/a.txt": "alpha\nbeta\ngamma\n",
    "work/b.txt": "beta\ndelta\n",
    "work/with space.txt": "spaced\n",
    "work/\u00e9.txt": "accent\n",
    "work/~": "a file called tilde\n",
    "work/ link-file": "what this names is another file once it is trimmed\n",
    "work/o\u0308.txt": "what this names is another file once it is composed\n",
    "work/tab\there": "tab\n",
    "work/-i": "an option\n",
    "work/src/x.ts": "export const x = 1; // TODO\n",
    "work/src/deep/z.ts": "export const z = 3;\n",
    "work/docs/readme.md": "# Read me\n",
    "work/nest/open.txt": "open\n",
    "work/nest/vault/key": CANARY,
    "work/.git/config": "[core]\n",
    "work/.env": "SECRET=1\n",
    "added/c.txt": "gamma\n",
    "outside/secret.txt": CANARY,
    "outside/src/x.ts": CANARY,
    "work-sibling/s.txt": CANARY,
    "data/operator-token": CANARY,
    "data/turns/mcp.json": CANARY,
    "home/.claude/settings.json": CANARY,
    "home/notes/n.md": "a note\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(at(name), ".."), { recursive: true });
    writeFileSync(at(name), text);
  }
  const links: Record<string, string> = {
    "work/link-in": "src",
    "work/link-out": "../outside",
    "work/link-file": "../outside/secret.txt",
    "work/link-token": "../data/operator-token",
    "work/link-proc": "/proc/self/environ",
    "work/link-cwd": "/proc/self/cwd",
    "work/link-dev": "/dev/zero",
    "work/src/up": "../../outside",
    "work/\u00f6.txt": "../outside/secret.txt",
    "work/link-absolute": at("work/a.txt"),
    "work/detour": "none/../../outside/new.txt",
    "work/loop": "loop",
    "work/dangling": "../outside/new.txt",
    "work/-n": "../outside/secret.txt",
    "work/-l": "../outside/secret.txt",
    "work/e\u0301.txt": "../outside/secret.txt",
    "work/5": "../outside/secret.txt",
    "work/[": "../outside/secret.txt",
    "work/*": "../outside/secret.txt",
    "work/a.txt ": "../outside/secret.txt",
    "added/link-work": "../work",
    "outside/back": "../work",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, at(name));
  linkSync(at("data/operator-token"), at("work/hard-token"));
  execFileSync("mkfifo", [at("work/fifo")]);
  const place: Place = {
    supervision: "default",
    workingDir: at("work"),
    addDirs: [at("added")],
    privatePaths: [
      at("data"),
      at("data/operator-token"),
      at("home/.claude"),
      at("work/nest/vault"),
      at("work/not-yet"),
    ],
    home: at("home"),
  };
  return {
    root: directory.path,
    place,
    strict: { ...place, supervision: "strict" },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
