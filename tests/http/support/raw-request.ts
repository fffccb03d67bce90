/** The answer to raw bytes that no HTTP client would send. */
export type RawAnswer = { status: number; headers: Headers; body: string };

type Part = string | Uint8Array;

/** Sends exactly these bytes, and reads until the answer is complete or the server closes the connection. */
export async function sendRaw(url: string, parts: Iterable<Part> | AsyncIterable<Part>): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const received: Buffer[] = [];
  const { promise: answered, resolve: finish } = Promise.withResolvers<void>();
  let closed = false;
  let drain = () => {};
  const socket = await Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    socket: {
      data(_, data) {
        received.push(data);
        if (isComplete(Buffer.concat(received).toString())) finish();
      },
      drain: () => drain(),
      close() {
        closed = true;
        drain();
        finish();
      },
    },
  });
  try {
    for await (const part of parts) {
      let left = typeof part === "string" ? new TextEncoder().encode(part) : part;
      while (left.length > 0 && !closed) {
        left = left.subarray(Math.max(0, socket.write(left)));
        if (left.length > 0 && !closed) {
          await new Promise<void>((resolve) => {
            drain = resolve;
          });
        }
      }
    }
    await answered;
    return parse(Buffer.concat(received).toString());
  } finally {
    socket.terminate();
  }
}

/** A request's head, with required headers unless given otherwise. */
export function head(url: string, line: string, headers: Record<string, string> = {}): string {
  const all: Record<string, string> = { Host: new URL(url).host, ...headers };
  return `${[`${line} HTTP/1.1`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)].join("\r\n")}\r\n\r\n`;
}

function isComplete(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length !== undefined && Buffer.byteLength(text.slice(end + 4)) >= Number(length);
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}
