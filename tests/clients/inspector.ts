import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { clientOf } from "../../src/cli/connect/clients.ts";
import { readConfig } from "../../src/config.ts";
import { answered } from "./connection.ts";
import type { Clients } from "./installed.ts";
import type { Connect } from "./supervision.ts";

const Listed = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
const Called = z.object({ result: z.unknown() });

/**
 * The command line of the MCP Inspector with the settings of Claude Code. Each start sends one request, and passes on
 * no notifications.
 */
export function connectInspector(clients: Clients, home: string): Connect {
  return connect(clients, home, []);
}

/** The same with revision 2026-07-28. */
export function connectInspectorModern(clients: Clients, home: string): Connect {
  return connect(clients, home, ["--protocol-era", "modern"]);
}

function connect({ program }: Clients, home: string, era: string[]): Connect {
  const launcher = program("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  const config = join(home, "inspector.json");
  return async (access) => {
    const claude = clientOf("claude", readConfig({}, { HOME: home }));
    writeFileSync(config, claude.format.alone(claude.entry(access)), { mode: 0o600 });
    const cli = [process.execPath, launcher, "--cli", "--config", config, "--server", "plexus", ...era];
    async function run(...args: string[]): Promise<unknown> {
      const inspector = Bun.spawn([...cli, "--format", "json", ...args], {
        env: { PATH: process.env["PATH"], HOME: home },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [stdout, stderr] = await Promise.all([inspector.stdout.text(), inspector.stderr.text()]);
      const exitCode = await inspector.exited;
      // It exits with 5 when a tool refuses.
      if (![0, 5].includes(exitCode)) throw new Error(`the Inspector ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout);
    }
    return {
      // Strict, so that a schema fails here if some model API would refuse it.
      tools: async () =>
        Listed.parse(await run("--method", "tools/list", "--strict")).result.tools.map(({ name }) => name),
      call: async (name, args) => {
        const call = ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)];
        return answered(Called.parse(await run(...call)).result);
      },
      told: [],
      async [Symbol.asyncDispose]() {},
    };
  };
}
