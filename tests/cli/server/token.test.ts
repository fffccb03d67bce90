import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listApprovals } from "../../../src/contract/routes/approvals.ts";
import { signIn } from "../../../src/contract/routes/sign-in.ts";
import { SignedIn } from "../../../src/contract/sign-in.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { plexus } from "../support/command.ts";
import { openPlace, type Place } from "../support/place.ts";

setDefaultTimeout(60_000);

const TOKEN = "a-token-that-is-in-the-environment";

let place: Place;
beforeAll(async () => {
  place = await openPlace();
});
afterAll(() => place[Symbol.asyncDispose]());

const statusFor = async (token: string) => {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${place.server.url}${listApprovals.path}`, { headers })).status;
};

describe("plexus token show", () => {
  test("prints the stored token of the operator, and nothing else", async () => {
    const stored = readFileSync(join(place.dataDir, "operator-token"), "utf8");
    expect(await place.plexus(["token", "show"])).toEqual({ exitCode: 0, stdout: stored, stderr: "" });
    const { stdout } = await place.plexus(["token", "show", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ token: stored.trim() });
  });

  test("prints PLEXUS_TOKEN where that is set", async () => {
    const { stdout } = await place.plexus(["token", "show"], { env: { PLEXUS_TOKEN: TOKEN } });
    expect(stdout).toBe(`${TOKEN}\n`);
  });

  test("prints no stored token that the running server would not take", async () => {
    await using other = await openPlace({ token: TOKEN });
    await writeFile(join(other.dataDir, "operator-token"), "the-token-of-an-earlier-server\n");
    for (const args of [["token", "show"], ["pending"]]) {
      const { exitCode, stdout, stderr } = await other.plexus(args);
      expect(stderr).toMatch(/^plexus: The Plexus at \S+ was started with PLEXUS_TOKEN: [^\n]*\n$/);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(await other.plexus(args, { env: { PLEXUS_TOKEN: TOKEN } })).toMatchObject({ exitCode: 0 });
    }
  });

  test("says that there is none before the first start", async () => {
    await using directory = await temporaryDirectory();
    const { exitCode, stdout, stderr } = await plexus(["token", "show", "--data-dir", directory.path]);
    expect(stderr).toMatch(/^plexus: There is no token in [^\n]* yet[^\n]*\n$/);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });
});

describe("plexus token revoke --web", () => {
  test("signs every page out, says how many there were, and leaves named tokens", async () => {
    const named = (await place.plexus(["token", "create", "stays"])).stdout.trim();
    const opened = JSON.parse((await place.plexus(["open", "--json"])).stdout);
    const code = new URL(opened.url).hash.replace("#code=", "");
    const answer = await fetch(`${place.server.url}${signIn.path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    });
    const { token } = SignedIn.parse(await answer.json());
    expect(await statusFor(token)).toBe(200);
    expect(await place.plexus(["token", "revoke", "--web"])).toEqual({
      exitCode: 0,
      stdout: "Signed out 1 page.\n",
      stderr: "",
    });
    expect(await statusFor(token)).toBe(401);
    expect(await statusFor(named)).toBe(200);
    const again = await place.plexus(["token", "revoke", "--web", "--json"]);
    expect(JSON.parse(again.stdout)).toEqual({ type: "signed_out", pages: 0 });
    await place.plexus(["token", "revoke", "stays"]);
  });

  test("takes no name with it, and none is wrong too, with exit code 2", async () => {
    for (const args of [["x", "--web"], []]) {
      const { exitCode, stderr } = await place.plexus(["token", "revoke", ...args]);
      expect(stderr).toBe("plexus: Give the NAME of a token, or --web.\n");
      expect(exitCode).toBe(2);
    }
  });
});

describe("plexus token create, list, revoke", () => {
  test("a token is printed once, works, is listed without its secret, and works no more when revoked", async () => {
    const created = await place.plexus(["token", "create", "my laptop é"]);
    const token = created.stdout.trim();
    expect(created).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("only time") });
    expect(await statusFor(token)).toBe(200);

    const listed = await place.plexus(["token", "list"]);
    expect(listed.stdout).toMatch(
      /^NAME +CREATED +LAST USED \(UTC\) +MAY ALLOW\n(.*\n)*my laptop é +2\S+ +2\S+ \S+ +all that its children ask\n/,
    );
    expect(listed.stdout).not.toContain(token);

    expect(await place.plexus(["token", "revoke", "my laptop é"])).toEqual({
      exitCode: 0,
      stdout: "Revoked my laptop é.\n",
      stderr: "",
    });
    expect(await statusFor(token)).toBe(401);
    expect((await place.plexus(["token", "list"])).stdout).not.toContain("my laptop");
  });

  test("print JSON when asked to", async () => {
    const created = JSON.parse((await place.plexus(["token", "create", "json", "--json"])).stdout);
    expect(created).toMatchObject({ type: "created", name: "json", token: expect.stringMatching(/^plx_/) });
    const { token: _, type: __, ...named } = created;
    expect(JSON.parse((await place.plexus(["token", "list", "--json"])).stdout)).toEqual({
      type: "ok",
      tokens: [named],
    });
    const revoked = await place.plexus(["token", "revoke", "json", "--json"]);
    expect(JSON.parse(revoked.stdout)).toEqual({ type: "revoked", ...named });
  });

  test("refuse a name that is taken, or not known, with exit code 1", async () => {
    await place.plexus(["token", "create", "taken"]);
    const again = await place.plexus(["token", "create", "taken"]);
    expect(again).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("exists") });
    const unknown = await place.plexus(["token", "revoke", "never-made"]);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("no token named") });
  });

  test("are the operator's alone", async () => {
    const { stdout } = await place.plexus(["token", "create", "limited"]);
    const { exitCode, stderr } = await place.plexus(["token", "list"], { env: { PLEXUS_TOKEN: stdout.trim() } });
    expect(stderr).toMatch(/^plexus: [^\n]*operator[^\n]*\n$/);
    expect(exitCode).toBe(1);
  });
});

describe("plexus token create --grant", () => {
  const grantFile = async (name: string, text: string) => {
    const path = join(place.scratch, name);
    await writeFile(path, text);
    return path;
  };

  test.each([
    ["grant.toml", 'grant = ["Bash(npm test)", "Edit(./src/**)"]\n'],
    ["grant.json", '["Bash(npm test)", "Edit(./src/**)"]'],
    ["object.json", '{"grant": ["Bash(npm test)", "Edit(./src/**)"]}'],
  ])("takes the patterns of %s, and the list shows them", async (name, text) => {
    const token = name.replace(".", "-");
    const created = await place.plexus(["token", "create", token, "--grant", await grantFile(name, text)]);
    expect(created).toMatchObject({ exitCode: 0 });
    const { stdout } = await place.plexus(["token", "list"]);
    expect(stdout).toMatch(/^NAME +CREATED +LAST USED \(UTC\) +MAY ALLOW$/m);
    expect(stdout).toMatch(new RegExp(`^${token} .* Bash\\(npm test\\), Edit\\(\\./src/\\*\\*\\)$`, "m"));
  });

  test.each([
    ["pattern.toml", 'grant = ["Bash(npm test)", "Bash("]', 1, 'The grant\'s pattern "Bash("'],
    ["shape.toml", 'allow = ["Bash"]', 2, "is no list of patterns"],
    ["broken.toml", "grant = [", 2, "can't be read as TOML or JSON"],
    ["broken.json", "{", 2, "can't be read as TOML or JSON"],
  ])("refuses %s in one line, and makes no token", async (name, text, exitCode, says) => {
    const refused = await place.plexus(["token", "create", "refused", "--grant", await grantFile(name, text)]);
    expect(refused.stderr).toMatch(/^plexus: [^\n]*\n$/);
    expect(refused.stderr).toContain(says);
    expect(refused).toMatchObject({ exitCode, stdout: "" });
    expect((await place.plexus(["token", "list"])).stdout).not.toContain("refused");
  });

  test("refuses a file that is not there", async () => {
    const { exitCode, stderr } = await place.plexus(["token", "create", "refused", "--grant", "/nowhere.toml"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "plexus: The grant /nowhere.toml can't be read: no such file or directory (/nowhere.toml).\n",
    });
  });
});
