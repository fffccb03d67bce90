import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { connect } from "./connection.ts";
import { type BenchServer, OPERATOR_TOKEN } from "./server-process.ts";

const Message = z.object({ result: z.object({ structuredContent: z.record(z.string(), z.unknown()) }) });

/** An MCP client that controls children over one connection, one call after the other. */
export type Parent = Disposable & { call(tool: string, args: object): Promise<Record<string, unknown>> };

export async function openParent(server: Pick<BenchServer, "port">): Promise<Parent> {
  const connection = await connect(server.port);
  let id = 0;
  let headers: string[] = [];
  const send = (method: string, params: object) => {
    const body = { jsonrpc: "2.0", id: ++id, method, params };
    return connection.request({ method: "POST", path: "/mcp", token: OPERATOR_TOKEN, headers, body }, `"id":${id}}`);
  };
  const clientInfo = { name: "bench", version: "1" };
  const opened = await send("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  headers = [`MCP-Session-Id: ${/mcp-session-id: (\S+)/i.exec(opened)?.[1]}`];
  return {
    async call(tool, args) {
      const answer = await send("tools/call", { name: tool, arguments: args });
      const data = answer.slice(answer.lastIndexOf("data: ") + "data: ".length);
      const { structuredContent } = Message.parse(JSON.parse(data)).result;
      if (structuredContent["type"] === "error") throw new Error(`${tool}: ${structuredContent["message"]}`);
      return structuredContent;
    },
    [Symbol.dispose]: () => connection.close(),
  };
}

/** Settings of a server that runs `scripted-claude.ts` as its children. */
export function scriptedChildren(directory: string): Record<string, string> {
  const program = join(directory, "claude");
  const script = join(import.meta.dir, "../children/scripted-claude.ts");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`);
  chmodSync(program, 0o700);
  return { PLEXUS_CLAUDE: program, PLEXUS_MAX_RUNNING: "100" };
}

/** A directory beside the data dir, because no child may work in one that contains it. */
export function workingDirIn(directory: string): string {
  const path = join(directory, "work");
  mkdirSync(path);
  return path;
}
