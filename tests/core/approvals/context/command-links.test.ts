import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { commandLinks } from "../../../../src/core/approvals/context/command-links.ts";
import { dangersOf } from "../../../../src/review/dangers.ts";
import { realPathsOf } from "../../../../src/review/real-paths.ts";
import { requested } from "../../../review/requested.ts";
import { temporaryDirectory } from "../../../support/temporary.ts";

type Looked = { dangers: string[]; real: string[] };
type World = {
  at: (name: string) => string;
  /** The dangers and the real paths of a command in `work`. */
  look: (command: string) => Looked;
};

/** A working directory with links out of it, to files and directories that need not exist. */
async function withLinks(links: Record<string, string>, body: (world: World) => void): Promise<void> {
  await using directory = await temporaryDirectory();
  const at = (name: string) => join(realpathSync(directory.path), name);
  for (const name of ["work", "work/src", "home", "else"]) mkdirSync(at(name));
  for (const [name, target] of Object.entries(links)) symlinkSync(target, at(`work/${name}`));
  const look = (command: string): Looked => {
    const call = requested("Bash", { command });
    const found = commandLinks(call, at("work"), at("home"));
    const context = { working_dir: at("work"), file: null, real_path: null, plan: null, skill: null, links: found };
    return { dangers: dangersOf(call, context).map(({ message }) => message), real: realPathsOf(call, context) };
  };
  body({ at, look });
}

const changes = (path: string) => `changes ${path}, outside the working directory`;

describe("a command through a link", () => {
  test("shows where the link leads, and is as dangerous as the real path", () =>
    withLinks({ etc: "/etc", pw: "/etc/passwd", none: "/nowhere/at/all", on: "etc" }, ({ look }) => {
      const cases: Record<string, string> = {
        "touch etc/x": "/etc/x",
        "echo > pw": "/etc/passwd",
        "echo x >> ./pw": "/etc/passwd",
        "tee pw < a": "/etc/passwd",
        "cp a pw": "/etc/passwd",
        "cp a etc": "/etc",
        "mv a etc": "/etc",
        "mv a etc/b": "/etc/b",
        "rm etc/x": "/etc/x",
        "mkdir on/x": "/etc/x",
        "touch none": "/nowhere/at/all",
        "touch none/x": "/nowhere/at/all/x",
        "touch src/../pw": "/etc/passwd",
        "mkdir -p a/b; touch a/b/../../pw": "/etc/passwd",
        'touch "$PWD/pw"': "/etc/passwd",
        "touch etc/*.conf": "/etc/*.conf",
        "touch etc/a$X": "/etc/a$X",
        "bash -c 'echo > pw'": "/etc/passwd",
        "env A=b touch pw": "/etc/passwd",
        "make --output=pw": "/etc/passwd",
        "gcc a.c -opw": "/etc/passwd",
        "tar -C etc -xf a.tar": "/etc",
      };
      for (const [command, real] of Object.entries(cases))
        expect({ command, ...look(command) }).toEqual({ command, dangers: [changes(real)], real: [real] });
      expect(look("cd etc && touch x")).toEqual({ dangers: [changes("/etc/x")], real: ["/etc", "/etc/x"] });
      // The kernel resolves `..` from the link's target, not from the written path.
      expect(look("touch etc/../x")).toEqual({ dangers: [changes("/x")], real: ["/x"] });
    }));

  test("that only reads shows where the link leads, and is dangerous if that holds credentials", () =>
    withLinks({ hn: "/etc/hostname", key: "../home/.ssh/id_rsa", conf: "../home/.bashrc" }, ({ at, look }) => {
      for (const command of ["cat hn", "cat < hn", "grep -r x hn", "diff hn src", "curl -d @hn http://localhost:1"])
        expect({ command, ...look(command) }).toEqual({ command, dangers: [], real: ["/etc/hostname"] });
      const secret = `accesses a file with credentials (${at("home/.ssh/id_rsa")})`;
      for (const command of ["cat key", "base64 < key", "curl -d name=@key http://localhost:1"])
        expect({ command, ...look(command) }).toMatchObject({ command, dangers: [secret] });
      expect(look("cat hn conf").real).toEqual(["/etc/hostname", at("home/.bashrc")]);
    }));

  test("has every other danger of the link's target", () =>
    withLinks({ hooks: ".git/hooks", s: "/usr/bin/sudo", e: "/usr/bin/env" }, ({ look, at }) => {
      expect(look("cp a hooks/pre-commit")).toEqual({
        dangers: [`changes a file that runs later (${at("work/.git/hooks/pre-commit")})`],
        real: [at("work/.git/hooks/pre-commit")],
      });
      expect(look("./s ls").dangers).toEqual(["runs as root (sudo)"]);
      expect(look("./e rm -rf src").dangers).toEqual(["removes files (rm)"]);
    }));

  test("follows no link that it replaces, moves or removes", () =>
    withLinks({ pw: "/etc/passwd", etc: "/etc" }, ({ look }) => {
      for (const command of ["rm pw", "unlink pw", "mv pw old", "mv src pw", "ln -sf a pw", "install a pw", "rm etc"])
        expect({ command, ...look(command) }).toEqual({ command, dangers: [], real: [] });
      expect(look("rm -r etc/").real).toEqual(["/etc"]);
    }));

  test("reports nothing for words that are no link, no file, or only printed", () =>
    withLinks({ pw: "/etc/passwd", here: "src" }, ({ look, at }) => {
      for (const command of [
        "touch a src/b ../else/c",
        "cat ~/x $HOME/y ~root/z",
        "echo pw",
        "cat /proc/cpuinfo /dev/null > /dev/null 2>&1",
        "cat <<< pw",
        `python3 ${"x".repeat(300)}`,
        "cat $X/pw",
        "cd $X && cat pw",
      ])
        expect({ command, ...look(command) }).toMatchObject({
          command,
          real: [],
          dangers: expect.not.arrayContaining([expect.stringContaining("is not known")]),
        });
      expect(look("touch here/x")).toEqual({ dangers: [], real: [at("work/src/x")] });
    }));

  test("into the directory for temporary files shows that, and is not dangerous", () =>
    withLinks({ scratch: "/tmp/of-nobody" }, ({ look }) => {
      expect(look("touch scratch/x")).toEqual({ dangers: [], real: [`${realpathSync("/tmp")}/of-nobody/x`] });
    }));

  test("that can't be followed is dangerous", () =>
    withLinks({ loop: "loop", self: "/proc/self/cwd", out: "/dev/sda" }, ({ look }) => {
      for (const name of ["loop", "self/a", "out", "self/../x"])
        for (const program of ["cat", "touch"])
          expect(look(`${program} ${name}`)).toEqual({
            dangers: [`names ${name}, and where that leads is not known`],
            real: [],
          });
    }));

  test("shows a few real paths, and how many more there are", () =>
    withLinks({ etc: "/etc" }, ({ look }) => {
      const { real } = look(`cat ${Array.from({ length: 30 }, (_, at) => `etc/${at}`).join(" ")}`);
      expect(real).toHaveLength(9);
      expect(real.at(-1)).toBe("(and 22 more)");
    }));
});

describe("a repository full of links", () => {
  const numbered = (count: number, name: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => name(at)).join(" ");
  /** Name, command, and a part of the result. */
  const HOSTILE: [string, string, string][] = [
    ["thousands of files", `cat ${numbered(5_000, (at) => `f${at}`)}`, "where that leads is not known"],
    ["thousands of names behind a link", `rm ${numbered(3_000, (at) => `deep/${at}`)}`, "changes too many files"],
    ["one file thousands of times", `touch ${"deep/x ".repeat(4_000)}`, "/a/a/a"],
    ["chains of links", `cat ${numbered(3_000, (at) => `l${at % 40}/${at}`)}`, "where that leads is not known"],
    ["paths that go up", `touch ${`${"none/../".repeat(480)}etc/x `.repeat(8)}`, "/etc/x"],
  ];
  const links = {
    etc: "/etc",
    deep: "a/".repeat(1_000),
    ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`l${at}`, `l${at + 1}`])),
  };

  test.each(HOSTILE)("and a command with %s take less than a second", (_, command, told) =>
    withLinks(links, ({ look }) => {
      const started = process.cpuUsage();
      const { dangers, real } = look(command);
      const { user, system } = process.cpuUsage(started);
      expect((user + system) / 1_000).toBeLessThan(1_000);
      expect([...dangers, ...real].join()).toContain(told);
    }),
  );

  test("and pipes or unreadable directories do not block", () =>
    withLinks({ pipe2: "pipe", locked2: "locked/x" }, ({ at, look }) => {
      Bun.spawnSync(["mkfifo", at("work/pipe")]);
      mkdirSync(at("work/locked"));
      chmodSync(at("work/locked"), 0o000);
      expect(look("cat pipe pipe2 < pipe").real).toEqual([at("work/pipe")]);
      expect(look("cat locked2").dangers.length + look("cat locked2").real.length).toBe(1);
      chmodSync(at("work/locked"), 0o700);
    }));
});
