import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { follow, isWithin } from "../../src/files/real-path.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const REAL_PATH = join(import.meta.dir, "../../src/files/real-path.ts");

async function inTree(body: (at: (name: string) => string, links: (targets: Record<string, string>) => void) => void) {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(directory.path, name);
  mkdirSync(at("src"));
  writeFileSync(at("src/a.txt"), "a");
  body(at, (targets) => {
    for (const [name, target] of Object.entries(targets)) symlinkSync(target, at(name));
  });
}

describe("follow", () => {
  test("gives up on links that lead in circles", () =>
    inTree((at, links) => {
      const rounds = (count: number) => "src/../".repeat(count);
      links({ short: `${rounds(400)}src`, long: `${rounds(400)}longer`, longer: `${rounds(200)}src` });
      expect(follow(at("short"))).toMatchObject({ real: at("src") });
      expect(follow(at("long"))).toBeUndefined();
      const budget = { steps: 1_000 };
      expect([follow(at("short"), budget)?.real, follow(at("short"), budget)?.real]).toEqual([at("src"), undefined]);
    }));

  test("returns a path's target, its kind, and the links that lead there", () =>
    inTree((at, links) => {
      links({ one: "two", two: "src", file: "one/a.txt", dangling: "src/none/new.txt" });
      expect(follow(at("src/a.txt"))).toMatchObject({ real: at("src/a.txt"), kind: "file", links: [] });
      expect(follow(at("file"))).toMatchObject({
        real: at("src/a.txt"),
        kind: "file",
        links: [at("file"), at("one"), at("two")],
      });
      expect(follow(at("dangling"))).toMatchObject({ real: at("src/none/new.txt"), kind: "missing" });
      expect(follow(at("src/a.txt/below"))).toMatchObject({ real: at("src/a.txt/below"), kind: "missing" });
    }));

  test("returns undefined for a link that differs between processes or can't be followed", () =>
    inTree((at, links) => {
      links({
        process: "/proc/self/cwd",
        away: "/proc/self/cwd/../../etc/hosts",
        device: "/dev/zero",
        system: "/sys/kernel",
        loop: "loop",
        detour: "none/../src/a.txt",
      });
      for (const name of ["process", "process/x", "away", "device", "system", "loop", "detour"]) {
        expect({ name, found: follow(at(name)) }).toEqual({ name, found: undefined });
      }
      expect(follow("/proc/self/cwd")).toBeUndefined();
      expect(follow("/a\0b")).toBeUndefined();
      expect(follow(`/${"x".repeat(5_000)}`)).toBeUndefined();
    }));

  const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "--bind", "/proc", "/mnt"]).success;
  test.skipIf(!canMount)("recognises /proc wherever it is mounted", () =>
    inTree((at) => {
      mkdirSync(at("host"));
      const code = `import { follow } from ${JSON.stringify(REAL_PATH)};
        console.log(JSON.stringify([follow("${at("host")}/self/cwd/x") ?? null, follow("${at("src")}/a.txt")?.kind]));`;
      const script = 'mount --bind /proc "$1" && exec "$2" -e "$3"';
      const run = Bun.spawnSync(["unshare", "-rm", "sh", "-c", script, "sh", at("host"), process.execPath, code]);
      expect(JSON.parse(run.stdout.toString())).toEqual([null, "file"]);
    }),
  );
});

test("isWithin accepts a directory and paths below it, not a path that only starts with its name", () => {
  for (const path of ["/srv/a", "/srv/a/b", "/srv/a/.."]) expect(isWithin("/srv/a", path)).toBe(true);
  for (const path of ["/srv", "/srv/ab", "/srv/a.b", "/"]) expect(isWithin("/srv/a", path)).toBe(false);
  expect(isWithin("/", "/srv")).toBe(true);
});
