import { describe, expect, test } from "bun:test";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Config, type Flags, isLoopback, readConfig, type Setting, SPELLINGS, UsageError } from "../src/config.ts";
import { ToldKind, type Webhook } from "../src/contract/webhook.ts";

type Case = { flag: string; env: string; means: [fromFlag: unknown, fromEnv: unknown, fromNothing: unknown] };

const HOME = "/srv/someone";
/** A webhook without options. */
function plainHook(url: string) {
  return { url, name: "webhook", format: "plexus", events: ToldKind.options, decide: undefined };
}
const CASES: Record<Setting, Case> = {
  host: { flag: "0.0.0.0", env: "::1", means: ["0.0.0.0", "::1", "127.0.0.1"] },
  port: { flag: "0", env: "65535", means: [0, 65_535, 4445] },
  dataDir: { flag: "/srv/flag", env: "/srv/env", means: ["/srv/flag", "/srv/env", `${HOME}/.local/state/plexus`] },
  auth: { flag: "none", env: "token", means: ["none", "token", "token"] },
  token: { flag: "x".repeat(16), env: "y".repeat(16), means: ["x".repeat(16), "y".repeat(16), undefined] },
  claude: { flag: "/opt/a", env: "/opt/b", means: ["/opt/a", "/opt/b", undefined] },
  approvalTimeoutSecs: { flag: "1", env: "604800", means: [1, 604_800, 300] },
  maxRunning: { flag: "1", env: "2", means: [1, 2, 16] },
  workspace: { flag: "/a, /b", env: "/c", means: [["/a", "/b"], ["/c"], []] },
  mcpServers: { flag: "operator", env: "anyone", means: ["operator", "anyone", "anyone"] },
  rules: { flag: "/etc/a.toml", env: "/etc/b.toml", means: ["/etc/a.toml", "/etc/b.toml", undefined] },
  retentionDays: { flag: "0", env: "36500", means: [0, 36_500, 30] },
  builtinRetentionDays: { flag: "0", env: "36500", means: [0, 36_500, 7] },
  maxHistoryMb: { flag: "1", env: "2", means: [1, 2, 4096] },
  logLevel: { flag: "debug", env: "silent", means: ["debug", "silent", "info"] },
  allowedHosts: { flag: "a.example,b", env: "c", means: [["a.example", "b"], ["c"], []] },
  webhook: {
    flag: "https://a.example/x, http://127.0.0.1:1/",
    env: "https://b.example/",
    means: [
      [plainHook("https://a.example/x"), plainHook("http://127.0.0.1:1/")],
      [plainHook("https://b.example/")],
      [],
    ],
  },
  webhookSecret: { flag: "x".repeat(16), env: "y".repeat(16), means: ["x".repeat(16), "y".repeat(16), undefined] },
  publicUrl: {
    flag: "https://a.example/",
    env: "http://192.168.0.9:4445",
    means: ["https://a.example", "http://192.168.0.9:4445", undefined],
  },
  push: {
    flag: "mailto:me@a.example",
    env: "https://b.example/contact",
    means: ["mailto:me@a.example", "https://b.example/contact", undefined],
  },
  pushHosts: {
    flag: "push.lan:8443, [fd00::1]",
    env: "10.0.0.9",
    means: [["push.lan:8443", "[fd00::1]"], ["10.0.0.9"], []],
  },
  updateSource: {
    flag: "https://a.example/latest",
    env: "http://10.0.0.9/version.txt",
    means: ["https://a.example/latest", "http://10.0.0.9/version.txt", undefined],
  },
  url: { flag: "http://a:1", env: "https://b", means: ["http://a:1", "https://b", undefined] },
};
const settings = Object.entries(CASES) as [Setting, Case][];
const read = (flags: Flags = {}, env: Record<string, string> = {}): Config => readConfig(flags, { HOME, ...env });

describe("readConfig", () => {
  test.each(settings)("reads %s from its flag, then from the environment, then its default", (setting, given) => {
    const fromEnv = { [SPELLINGS[setting].env]: given.env };
    const configs = [read({ [setting]: given.flag }, fromEnv), read({}, fromEnv), read()];
    expect<unknown[]>(configs.map((config) => config[setting])).toEqual(given.means);
  });

  test("ignores an empty variable", () => {
    const empty = Object.fromEntries(Object.values(SPELLINGS).map(({ env }) => [env, ""]));
    const { environment: _, ...settings } = read();
    expect(read({}, empty)).toMatchObject(settings);
  });

  test("puts the data dir in XDG_STATE_HOME, and notes whether it was given", () => {
    expect(read({}, { XDG_STATE_HOME: "/srv/state" })).toMatchObject({
      dataDir: "/srv/state/plexus",
      isDefaultDataDir: true,
    });
    expect(read({ dataDir: "here" })).toMatchObject({ dataDir: resolve("here"), isDefaultDataDir: false });
    expect(readConfig({}, {}).dataDir).toBe(join(homedir(), ".local", "state", "plexus"));
  });
});

describe("a bad value", () => {
  test.each<[Setting, string, string]>([
    ["host", "two words", "host name"],
    ["host", "a\nb\u001b[31m", "host name"],
    ["port", "", "whole number from 0 to 65535"],
    ["port", "65536", "whole number from 0 to 65535"],
    ["port", "-1", "whole number"],
    ["port", "0x10", "whole number"],
    ["port", "1e3", "whole number"],
    ["port", "80.5", "whole number"],
    ["dataDir", "", "must not be empty"],
    ["auth", "maybe", 'must be "token" or "none"'],
    ["claude", "", "must not be empty"],
    ["approvalTimeoutSecs", "0", "whole number from 1 to 604800"],
    ["approvalTimeoutSecs", "604801", "whole number from 1 to 604800"],
    ["retentionDays", "", "whole number from 0 to 36500"],
    ["retentionDays", " ", "whole number from 0 to 36500"],
    ["logLevel", "loud", 'must be "debug", "info", "warn", "error" or "silent"'],
    ["allowedHosts", "good,not good", "host name"],
    ["url", "localhost:4445", "http or https URL"],
  ])("of %s (%j) is one line that names its flag, or its variable", (setting, value, complaint) => {
    const { flag, env } = SPELLINGS[setting];
    const fromFlag = complaintOf({ [setting]: value });
    expect(fromFlag).toStartWith(`${flag} ${JSON.stringify(value)}: `);
    expect(fromFlag).toContain(complaint);
    expect(fromFlag.split("\n")).toHaveLength(1);
    if (value) expect(complaintOf({}, { [env]: value })).toStartWith(`${env} ${JSON.stringify(value)}: `);
  });

  test("in the environment is ignored when a flag overrides it", () => {
    expect(read({ port: "80" }, { PLEXUS_PORT: "bad" }).port).toBe(80);
  });

  test.each(["short-secret", "a secret with spaces in it", "sécret-sécret-sécret"])(
    "of the token is never repeated (%s)",
    (token) => {
      const complaint = complaintOf({}, { PLEXUS_TOKEN: token });
      expect(complaint).toStartWith("PLEXUS_TOKEN: must ");
      expect(complaint).not.toContain(token);
    },
  );
});

describe("--webhook", () => {
  test.each([
    "https://example.com/a?b=c",
    "http://127.0.0.1:80/",
    "http://[::1]:1/",
    "http://10.1.2.3/",
    "http://192.168.0.9/",
    "http://172.31.0.1/",
    "http://[fd00::1]/",
    "http://localhost:1/",
    "http://relay:8080/",
    "http://printer.local/",
  ])("accepts %s", (url) => {
    expect(read({ webhook: url }).webhook).toMatchObject([{ url, format: "plexus" }]);
  });

  test.each([
    ["http://example.com/secret", "https"],
    ["http://8.8.8.8/secret", "https"],
    ["http://172.32.0.1/secret", "https"],
    ["http://10.example.com/secret", "https"],
    ["http://127.0.0.1.example.com/secret", "https"],
    ["http://[2001:db8::1]/secret", "https"],
    ["ftp://example.com/secret", "http or https"],
    ["secret", "http or https"],
    ["https://user:secret@example.com/", "user name"],
    [`${"https://a.example/secret,".repeat(21)}`, "20"],
    ["https://api.telegram.org/botsecret/sendMessage#format=telegram", "chat_id"],
    ["https://ntfy.sh/#format=ntfy", "topic"],
    ["https://ntfy.sh/secret/json#format=ntfy", "topic"],
  ])("refuses %s, and does not repeat it", (url, why) => {
    const complaint = complaintOf({ webhook: url });
    expect(complaint).toStartWith("--webhook: must be ");
    expect(complaint).toContain(why);
    expect(complaint).not.toContain("secret");
  });
});

describe("the options of a webhook", () => {
  test("are read from the fragment of its URL, which is not sent", () => {
    const [webhook] = read({
      webhook: "https://ntfy.sh/t?a=1#format=ntfy&name=phone&events=turn_ended+unasked_call",
    }).webhook;
    expect(webhook).toEqual({
      url: "https://ntfy.sh/t?a=1",
      name: "phone",
      format: "ntfy",
      events: ["turn_ended", "unasked_call"],
      decide: undefined,
    } satisfies Webhook);
  });

  test.each([
    ["https://a.example/#format=irc", "ntfy, slack"],
    ["https://a.example/#colour=red", "unknown option"],
    ["https://a.example/#name=a%20b", "name"],
    [`https://a.example/#name=${"a".repeat(41)}`, "name"],
    ["https://a.example/#events=turn_started", "turn_ended"],
    ["https://a.example/#events=", "turn_ended"],
    ["https://a.example/#name=a,https://a.example/#name=b", "twice"],
    ["https://a.example/#decide=yes", "any, allow, deny"],
    ["https://a.example/#decide=any,https://b.example/#decide=deny", "name of its own"],
  ])("are refused where they are wrong: %s", (webhook, why) => {
    expect(complaintOf({ webhook })).toContain(why);
  });
});

describe("--public-url", () => {
  test.each([
    ["http://example.com", "https"],
    ["https://example.com/plexus", "without a path"],
    ["https://example.com/?a", "without a path"],
    ["https://a:b@example.com/", "user name"],
    ["example.com", "http or https"],
  ])("refuses %s", (publicUrl, why) => {
    const complaint = complaintOf({ publicUrl });
    expect(complaint).toStartWith("--public-url ");
    expect(complaint).toContain(why);
  });
});

describe("--auth none", () => {
  test.each(["0.0.0.0", "::", "192.168.1.2", "example.com", "127.0.0.1.example.com", "localhost.example.com"])(
    "is refused on %s",
    (host) => {
      const complaint = complaintOf({ auth: "none", host });
      expect(complaint).toContain(`--auth none is refused on ${host}`);
      expect(complaintOf({}, { PLEXUS_AUTH: "none", PLEXUS_HOST: host })).toBe(complaint);
    },
  );

  test.each(["127.0.0.1", "127.8.9.10", "::1", "localhost"])("is accepted on %s", (host) => {
    expect(read({ auth: "none", host }).auth).toBe("none");
    expect(isLoopback(host)).toBe(true);
  });
});

describe("the spellings", () => {
  test("follow one pattern from flag to variable", () => {
    for (const [setting, { flag, env }] of Object.entries(SPELLINGS)) {
      const words = setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(env).toBe(`PLEXUS_${words.replaceAll("-", "_").toUpperCase()}`);
      if (flag) expect(flag).toBe(`--${words}`);
    }
  });

  test("have no flag for secrets, which process lists would show", () => {
    expect([SPELLINGS.token.flag, SPELLINGS.webhookSecret.flag]).toEqual([undefined, undefined]);
  });
});

function complaintOf(flags: Flags, env: Record<string, string> = {}): string {
  try {
    read(flags, env);
  } catch (cause) {
    if (cause instanceof UsageError) return cause.message;
    throw cause;
  }
  throw new Error("nothing was refused");
}
