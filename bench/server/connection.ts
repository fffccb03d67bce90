import type { Socket } from "bun";

/** A minimal HTTP connection: thousands of them cost little, and the client itself takes hardly any time. */
export type Connection = {
  /** Sends a request; resolves with everything received up to `until`. */
  request(options: RequestOptions, until: string): Promise<string>;
  /** Resolves with everything received from here up to `until`. */
  read(until: string): Promise<string>;
  close(): void;
};

export type RequestOptions = { method: string; path: string; token: string; body?: unknown; headers?: string[] };

export async function connect(port: number): Promise<Connection> {
  let received = "";
  let wanted: { until: string; resolve: (text: string) => void; reject: (cause: Error) => void } | undefined;
  const decoder = new TextDecoder();
  const check = () => {
    const at = wanted ? received.indexOf(wanted.until) : -1;
    if (!wanted || at < 0) return;
    const end = at + wanted.until.length;
    const text = received.slice(0, end);
    const { resolve } = wanted;
    received = received.slice(end);
    wanted = undefined;
    resolve(text);
  };
  const fail = () => wanted?.reject(new Error(`the connection ended; received: ${received.slice(0, 500)}`));
  const socket: Socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        received += decoder.decode(chunk, { stream: true });
        check();
      },
      close: fail,
      error: fail,
    },
  });
  const read = (until: string) =>
    new Promise<string>((resolve, reject) => {
      wanted = { until, resolve, reject };
      check();
    });
  return {
    read,
    request({ method, path, token, body, headers = [] }, until) {
      const text = body === undefined ? "" : JSON.stringify(body);
      const lines = [
        `${method} ${path} HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2025-11-25",
        `Content-Length: ${Buffer.byteLength(text)}`,
        ...headers,
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n${text}`);
      return read(until);
    },
    close: () => socket.end(),
  };
}

/** The end of the answer to a permit. */
export const ANSWERED = "]}}\n\n";

/** The permission request of a child. */
export function permitRequest(token: string, toolUseId: string): RequestOptions {
  const args = {
    tool_name: "Bash",
    input: { command: "make test", description: "run the tests" },
    tool_use_id: toolUseId,
  };
  const params = { name: "loopback_permit", arguments: args, _meta: { progressToken: 2 } };
  return { method: "POST", path: "/mcp", token, body: { jsonrpc: "2.0", id: 2, method: "tools/call", params } };
}

/** Returns the approval's id from the first event of a permit. */
export function askedIn(text: string): string {
  const id = /id: ([0-9a-f-]{36})~/.exec(text)?.[1];
  if (!id) throw new Error(`no approval in: ${text.slice(0, 500)}`);
  return id;
}
