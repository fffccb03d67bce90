import { OPERATOR_TOKEN } from "../../support/server/plexus.ts";
import { until } from "../../support/until.ts";

/** Opens a stream as the operator on a socket that reads the headers, and then nothing until `readTo` is called. */
export async function openStalled(url: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port, host } = new URL(url);
  const received: Buffer[] = [];
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  let isEnded = false;
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(own, data) {
        if (received.push(data) === 1) own.pause();
        begin();
      },
      close() {
        isEnded = true;
      },
    },
  });
  const all = { Host: host, Authorization: `Bearer ${OPERATOR_TOKEN}`, Accept: "text/event-stream", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  await begun;
  return {
    /** Reads until the text matches `end`, or until the server closes. */
    async readTo(end: RegExp): Promise<string> {
      socket.resume();
      const text = () => unchunked(Buffer.concat(received).toString());
      await until(`${end}`, () => isEnded || end.test(text().slice(-1_000)));
      return text();
    },
    [Symbol.dispose]: () => socket.terminate(),
  };
}

function unchunked(text: string): string {
  let rest = text.slice(text.indexOf("\r\n\r\n") + 4);
  let body = "";
  for (;;) {
    const size = Number.parseInt(rest, 16);
    if (!size) return body;
    const start = rest.indexOf("\r\n") + 2;
    body += rest.slice(start, start + size);
    rest = rest.slice(start + size + 2);
  }
}

/** The ids of the events in a text, in order. */
export function idsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}
