import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { ClientCapabilities } from "@modelcontextprotocol/sdk/types.js";
import { type JsonObject, JsonObject as JsonObjectSchema } from "../../../src/contract/values.ts";
import { connectOver, type TestClient } from "../mcp/mcp-client.ts";
import { endRun, RUN_MARKER, survivors } from "../processes/processes.ts";
import { until } from "../until.ts";
import { PROGRAM } from "./program.ts";

type Options = { args?: string[]; env?: Record<string, string | undefined>; program?: string[] };

export type BridgeProcess = AsyncDisposable & {
  pid: number;
  /** Its standard output, which must be JSON-RPC only. */
  messages: JsonObject[];
  /** The lines of standard error. */
  said: string[];
  send(message: object): void;
  write(bytes: string | Uint8Array): void;
  closeInput(): void;
  /** The message that answers this request. */
  answer(id: number | string | null): Promise<JsonObject>;
  /** Waits until a line of standard error contains this text. */
  says(what: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
};

/** `plexus mcp ARGS` on a pair of pipes. Fails at its end if it leaves a process behind. */
export function startBridge({ args = [], env = {}, program = PROGRAM }: Options = {}): BridgeProcess {
  const runId = crypto.randomUUID();
  const subprocess = Bun.spawn([...program, "mcp", ...args], {
    cwd: "/",
    env: { ...environment(), [RUN_MARKER]: runId, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const messages: JsonObject[] = [];
  const said: string[] = [];
  void eachLine(subprocess.stdout, (line) => messages.push(JsonObjectSchema.parse(JSON.parse(line))));
  void eachLine(subprocess.stderr, (line) => said.push(line));
  const write = (bytes: string | Uint8Array) => {
    subprocess.stdin.write(bytes);
    void subprocess.stdin.flush();
  };
  const soFar = () => `it wrote ${JSON.stringify(messages).slice(0, 2_000)} and said:\n${said.join("\n")}`;
  return {
    pid: subprocess.pid,
    messages,
    said,
    write,
    send: (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    closeInput: () => void subprocess.stdin.end(),
    answer: (id) =>
      until(
        `the answer to ${id}`,
        () => messages.find((message) => message["id"] === id && !("method" in message)),
        40_000,
      ).catch((error: Error) => {
        throw new Error(`${error.message}: ${soFar()}`);
      }),
    says: (what) =>
      until(`"${what}" on standard error`, () => said.find((line) => line.includes(what))).catch((error: Error) => {
        throw new Error(`${error.message}: ${soFar()}`);
      }),
    kill: (signal) => subprocess.kill(signal),
    exited: subprocess.exited,
    async [Symbol.asyncDispose]() {
      subprocess.kill("SIGKILL");
      await subprocess.exited;
      const left = survivors(runId);
      await endRun(runId);
      if (left.length > 0) throw new Error(`the bridge left processes behind: ${JSON.stringify(left)}`);
    },
  };
}

/** The official MCP client, connected to the pipes of `plexus mcp ARGS`. */
export async function connectStdio(
  { args = [], env = {}, program = PROGRAM }: Options,
  capabilities?: ClientCapabilities,
): Promise<TestClient> {
  const [command = "", ...words] = [...program, "mcp", ...args];
  const defined = Object.entries({ ...environment(), ...env }).filter((entry): entry is [string, string] => !!entry[1]);
  const transport = new StdioClientTransport({
    command,
    args: words,
    cwd: "/",
    env: Object.fromEntries(defined),
    stderr: "ignore",
  });
  return connectOver(transport, capabilities);
}

/** Keeps the machine's own settings out of the tests. */
function environment(): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], HOME: "/nonexistent" };
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const chunk of stream) {
    const [head = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(head);
    for (const next of rest) {
      take(pieces.join(""));
      pieces = [next];
    }
  }
}
