import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { userLogin } from "../../../src/claude/settings/login.ts";
import { script, startScriptedModel } from "../../support/model/scripted-model.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { type Place, withPlace } from "../child.ts";

setDefaultTimeout(60_000);

const model = startScriptedModel();
afterAll(() => model[Symbol.asyncDispose]());

const NOBODY = { ANTHROPIC_BASE_URL: "", ANTHROPIC_API_KEY: "" };

function writeSettings({ home }: Pick<Place, "home">, settings: object): void {
  writeFileSync(join(home, ".claude", "settings.json"), JSON.stringify(settings));
}

describe("a login in the user's settings", () => {
  test.each(["default", "strict"] as const)(
    "reaches a child supervised by %s through its helper for the key",
    (supervision) =>
      withPlace(async (place, start) => {
        const key = `key-${crypto.randomUUID()}`;
        const env = { ANTHROPIC_BASE_URL: model.url };
        writeSettings(place, { apiKeyHelper: `echo ${key}`, env });
        const run = start({ model, supervision, prompt: script([{ say: "hello" }]), env: NOBODY });
        expect(await run.outcome()).toEqual({ outcome: "complete" });
        const keys = model.requests.map(({ headers }) => headers.get("x-api-key"));
        expect(keys).toContain(key);
      }),
  );

  test("reaches a child through its environment, with no secret in an argument", () =>
    withPlace(async (place, start) => {
      const token = `token-${crypto.randomUUID()}`;
      writeSettings(place, { env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_AUTH_TOKEN: token } });
      const prompt = script([{ say: "hello", waitFor: token }]);
      const run = start({ model, prompt, env: NOBODY });
      const sent = () => model.requests.map(({ headers }) => headers.get("authorization"));
      await until("its question to the model", () => sent().includes(`Bearer ${token}`));
      const shown = Bun.spawnSync(["ps", "-A", "-ww", "-o", "args="]).stdout.toString();
      expect(shown).toContain("--permission-mode default");
      expect(shown).not.toContain(token);
      model.release(token);
      expect(await run.outcome()).toEqual({ outcome: "complete" });
    }));

  test("is the only part of the settings that is used", async () => {
    await using directory = await temporaryDirectory();
    const env = { AWS_REGION: "eu-1", CLAUDE_CODE_USE_BEDROCK: "1", PATH: "/evil", CLAUDE_CODE_ENTRYPOINT: "x" };
    const settings = { apiKeyHelper: "get-key", model: "opus", permissions: { allow: ["Bash"] }, hooks: {}, env };
    writeFileSync(join(directory.path, "settings.json"), JSON.stringify(settings));
    expect(userLogin({ CLAUDE_CONFIG_DIR: directory.path }, [])).toEqual({
      helpers: { apiKeyHelper: "get-key" },
      env: { AWS_REGION: "eu-1", CLAUDE_CODE_USE_BEDROCK: "1" },
    });
  });

  test.each([
    ["UTF-8", (text: string) => `\ufeff${text}`],
    ["UTF-16", (text: string) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ] as const)("is read after a byte order mark of %s, as by Claude Code", async (_, encoded) => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "settings.json"), encoded(JSON.stringify({ apiKeyHelper: "get-key" })));
    expect(userLogin({ CLAUDE_CONFIG_DIR: directory.path }, []).helpers).toEqual({ apiKeyHelper: "get-key" });
  });

  test("is not used when the settings are in the project, or a link in the project leads to them", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["home", "project/dot", "elsewhere"]) mkdirSync(at(name), { recursive: true });
    for (const name of ["project/settings.json", "elsewhere/settings.json"])
      writeFileSync(at(name), JSON.stringify({ apiKeyHelper: name }));
    symlinkSync(at("elsewhere/settings.json"), at("project/dot/settings.json"));
    const helpers = (settings: string, dirs = [at("project")]) => {
      const home = at(crypto.randomUUID());
      mkdirSync(join(home, ".claude"), { recursive: true });
      symlinkSync(at(settings), join(home, ".claude/settings.json"));
      return userLogin({ HOME: home }, dirs).helpers;
    };
    expect(helpers("elsewhere/settings.json")).toEqual({ apiKeyHelper: "elsewhere/settings.json" });
    expect(helpers("project/settings.json")).toEqual({});
    expect(helpers("project/dot/settings.json")).toEqual({});
    expect(helpers("project/settings.json", [at("elsewhere"), at("project")])).toEqual({});
    expect(userLogin({ CLAUDE_CONFIG_DIR: at("project") }, [at("project")]).helpers).toEqual({});
  });

  test("is not used when the user's settings are a link into the project", () =>
    withPlace(async (place, start) => {
      const mark = join(place.root, "helper-ran");
      const settings = join(place.workingDir, "settings.json");
      writeFileSync(settings, JSON.stringify({ apiKeyHelper: `touch ${mark}; echo key` }));
      symlinkSync(settings, join(place.home, ".claude", "settings.json"));
      const run = start({ model, supervision: "strict", prompt: script([{ say: "hello" }]) });
      expect(await run.outcome()).toEqual({ outcome: "complete" });
      expect(existsSync(mark)).toBe(false);
    }));

  test("is empty without waiting if the settings are a pipe or have no end", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string) => join(directory.path, name);
    for (const name of ["pipe", "device", "process"]) mkdirSync(at(name));
    Bun.spawnSync(["mkfifo", at("pipe/settings.json")]);
    symlinkSync("/dev/zero", at("device/settings.json"));
    symlinkSync("/proc/self/pagemap", at("process/settings.json"));
    for (const name of ["pipe", "device", "process"]) {
      expect(userLogin({ CLAUDE_CONFIG_DIR: at(name) }, [])).toEqual({ helpers: {}, env: {} });
    }
  });

  test.each(["", "not JSON", "[]", '{"env":{"AWS_REGION":1}}'])("is empty when the settings are %p", async (text) => {
    await using directory = await temporaryDirectory();
    writeFileSync(join(directory.path, "settings.json"), text);
    expect(userLogin({ HOME: "/nowhere", CLAUDE_CONFIG_DIR: directory.path }, [])).toEqual({ helpers: {}, env: {} });
    expect(userLogin({ HOME: "/nowhere" }, [])).toEqual({ helpers: {}, env: {} });
  });
});
