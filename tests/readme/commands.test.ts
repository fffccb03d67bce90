import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { z } from "zod";
import { connectOver } from "../support/mcp/mcp-client.ts";
import { script } from "../support/model/scripted-model.ts";
import { signal } from "../support/processes/processes.ts";
import { until } from "../support/until.ts";
import { blocksUnder, jsonUnder } from "./readme.ts";
import { type Machine, onMachine, type Started } from "./terminals.ts";

setDefaultTimeout(120_000);

const DEFAULT_URL = "http://127.0.0.1:4445";
const StdioSettings = z.object({
  mcpServers: z.object({ plexus: z.object({ command: z.string(), args: z.array(z.string()) }) }),
});
const ServerFile = z.object({ pid: z.int() });
/** Builds the executable, and starts it. */
const [buildAndServe = ""] = blocksUnder("Supervise a claude that you start by hand");
/** For all tests but the first, which builds the executable. */
const serve = buildAndServe.replace(/^npm run build\n/, "");
const PROMPT = '"Write a greeting to hello.txt"';

describe("the README's commands by hand", () => {
  const [, child = "", allow = "", deny = ""] = blocksUnder("Supervise a claude that you start by hand");
  const [pending = "", allowId = ""] = allow.split("\n");

  test("make a child wait until its call is allowed, and then the call runs", () =>
    onMachine(async (machine) => {
      expect(buildAndServe).not.toBe(serve);
      await machine.serve(buildAndServe);
      const claude = startChild(machine, child);
      const id = await waitingId(machine, pending);
      expect(existsSync(greeting(machine))).toBe(false);
      await succeeds(machine.paste(decide(allowId, id)));
      await succeeds(claude);
      expect(await Bun.file(greeting(machine)).text()).toBe("Hello!");
    }));

  test("give a child the reason for a denial, and its call does not run", () =>
    onMachine(async (machine) => {
      await machine.serve(serve);
      const claude = startChild(machine, child);
      await succeeds(machine.paste(decide(deny, await waitingId(machine, pending))));
      expect(await succeeds(claude)).toContain("Write it to greeting.txt instead");
      expect(existsSync(greeting(machine))).toBe(false);
    }));

  test("write a config that only its user can read", () =>
    onMachine(async (machine) => {
      await machine.serve(serve);
      const [configure = ""] = child.split("\n");
      await succeeds(machine.paste(configure));
      expect((statSync(join(machine.cwd, "child.json")).mode & 0o777).toString(8)).toBe("600");
    }));
});

describe("the README's commands to run a child", () => {
  const [run = "", look = ""] = blocksUnder("Run a child");

  test("create a session whose child waits until its call is allowed, and show it", () =>
    onMachine(async (machine) => {
      await machine.serve(serve);
      const child = startChild(machine, run);
      await succeeds(machine.paste(`plexus allow ${await waitingId(machine, "plexus pending")}`));
      expect(await succeeds(child)).toContain("Write was allowed by operator");
      expect(await Bun.file(greeting(machine)).text()).toBe("Hello!");
      expect(await succeeds(machine.paste(look))).toMatch(/^greeter +done .* Write was allowed by operator/ms);
    }));
});

describe("the README's command for a browser", () => {
  const [open = ""] = blocksUnder("Decide in a browser");

  test("prints the page's address when there is no screen", () =>
    onMachine(async (machine) => {
      const url = await machine.serve(serve);
      expect(await succeeds(machine.paste(open))).toMatch(new RegExp(`^${url}/#code=\\S+\n$`));
      expect(await (await fetch(url)).text()).toContain("<title>Plexus</title>");
    }));
});

describe("the README's command for an agent that decides", () => {
  const [add = ""] = blocksUnder("Let an agent decide");

  test("connects Claude Code", () =>
    onMachine(async (machine) => {
      const url = await machine.serve(serve);
      await succeeds(machine.paste(add.replace(DEFAULT_URL, url)));
      expect(await succeeds(machine.paste("claude mcp get plexus"))).toMatch(/Status:.*Connected/);
    }));
});

describe("the README's other commands", () => {
  const [watch = "", history = ""] = blocksUnder("Decide in a terminal");
  const [, connect = ""] = blocksUnder("Let an agent decide");
  const [doctor = ""] = blocksUnder("See that it works");

  test("give Claude Code a token of its own, and connect it", () =>
    onMachine(async (machine) => {
      await machine.serve(serve);
      await succeeds(machine.paste(`${connect} --yes`));
      expect(await succeeds(machine.paste("claude mcp get plexus"))).toMatch(/Status:.*Connected/);
      expect(await succeeds(machine.paste("plexus token list"))).toContain("claude");
    }));

  test("check the machine, and leave no decision of the check behind", () =>
    onMachine(async (machine) => {
      await machine.serve(serve);
      expect(await succeeds(machine.paste(doctor))).toEndWith("Everything works.\n");
      expect(await succeeds(machine.paste(history))).toBe("");
    }));

  test("run watch only on a terminal, and say so elsewhere", () =>
    onMachine(async (machine) => {
      const { exitCode, stderr } = await machine.paste(watch).finished;
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining("needs a terminal") });
    }));
});

describe("the README's settings for a client that speaks only stdio", () => {
  test("start a server and connect the client to it", () =>
    onMachine(async (machine) => {
      const { plexus } = StdioSettings.parse(jsonUnder("Clients that speak only stdio")).mcpServers;
      const transport = new StdioClientTransport({ ...plexus, cwd: machine.cwd, env: machine.env, stderr: "ignore" });
      await using client = await connectOver(transport);
      expect((await client.call("loopback_pending")).value).toMatchObject({ type: "ok", approvals: [] });
      const { pid } = ServerFile.parse(await Bun.file(join(machine.home, ".local/state/plexus/server.json")).json());
      signal(pid, "SIGTERM");
    }));
});

describe("the README's commands without tokens", () => {
  const [serveOpenly = "", child = "", curl = "", withToken = ""] = blocksUnder("Without tokens");
  const [list = "", respond = ""] = curl.split("\n");

  test.skipIf(Bun.which("curl") === null)("let curl decide for a claude that knows only the URL", () =>
    onMachine(async (machine) => {
      const url = await machine.serve(serveOpenly);
      const here = (line: string) => line.replaceAll(DEFAULT_URL, url);
      const claude = startChild(machine, here(child));
      const id = await waitingId(machine, here(list));
      expect(await succeeds(machine.paste(decide(here(respond), id)))).toContain('"status":"allowed"');
      await succeeds(claude);
      expect(await Bun.file(greeting(machine)).text()).toBe("Hello!");
    }),
  );

  test.skipIf(Bun.which("curl") === null)("work with the operator's token too", () =>
    onMachine(async (machine) => {
      const url = await machine.serve("plexus serve");
      expect(await succeeds(machine.paste(list.replace(DEFAULT_URL, url)))).toContain('"code":"unauthorized"');
      expect(await succeeds(machine.paste(withToken.replace(DEFAULT_URL, url)))).toContain('"approvals":[]');
    }),
  );
});

describe("the README's command to the first decision", () => {
  const [, run = ""] = blocksUnder();

  test("starts a server in an empty home, and waits until its call is allowed", () =>
    onMachine(async (machine) => {
      const child = startChild(machine, run);
      const id = await waitingId(machine, "plexus pending 2>/dev/null || true");
      await succeeds(machine.paste(`plexus allow ${id.slice(-4)}`));
      expect(await succeeds(child)).toContain("Write was allowed by operator");
      expect(await Bun.file(greeting(machine)).text()).toBe("Hello!");
      await succeeds(machine.paste("plexus stop"));
    }));
});

describe("the README's first command", () => {
  const [install = ""] = blocksUnder();

  test("shows on a terminal where Plexus listens and how to connect Claude Code", () =>
    onMachine(async ({ env }) => {
      expect(install).toStartWith("npm install && ");
      let screen = "";
      const decoder = new TextDecoder();
      const shell = Bun.spawn(["sh", "-ec", install.replace("npm install && ", "")], {
        cwd: join(import.meta.dir, "../.."),
        env: { ...env, TERM: "xterm" },
        terminal: {
          cols: 200,
          rows: 50,
          data: (_, chunk) => {
            screen += decoder.decode(chunk, { stream: true });
          },
        },
      });
      await until("the welcome", () => screen.includes("Stop with Ctrl-C"), 60_000);
      expect(screen).toMatch(/Plexus \S+ listens on http:\/\/127\.0\.0\.1:\d+/);
      expect(screen).toContain("npm run -s plexus -- connect claude");
      shell.terminal?.write("\u0003");
      await shell.exited;
      shell.terminal?.close();
    }));
});

/** The README's lines for the child, with a prompt that also scripts the model. */
function startChild(machine: Machine, lines: string): Started {
  expect(lines).toContain(PROMPT);
  const input = { file_path: greeting(machine), content: "Hello!" };
  const prompt = script([{ use: [{ name: "Write", input }] }], "Write a greeting to hello.txt");
  return machine.paste(lines.replace(PROMPT, '"$PROMPT"'), { env: { PROMPT: prompt } });
}

function greeting({ cwd }: Machine): string {
  return join(cwd, "hello.txt");
}

/** Repeats the line, as a person would, until it shows a pending request. The child's model must answer first. */
async function waitingId(machine: Machine, line: string): Promise<string> {
  await until("the child to ask its model", () => machine.model.requests.length > 0, 60_000);
  return until(
    "an ask to wait",
    async () => /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(await succeeds(machine.paste(line)))?.[0],
    60_000,
  );
}

function decide(line: string, id: string): string {
  expect(line).toContain("ID");
  return line.replace("ID", id);
}

async function succeeds({ finished }: Started): Promise<string> {
  const { exitCode, stdout, stderr } = await finished;
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}
