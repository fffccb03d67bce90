export type WireEvent = { id?: string; retry?: string; event?: string; data: string };

type Call = {
  method?: string;
  token: string;
  headers?: Record<string, string>;
  body?: object;
  signal?: AbortSignal | undefined;
};

/** Sends one request on its own connection, so that everything the client sees comes from this server. */
export function request(url: string, { method, token, headers = {}, body, signal }: Call): Promise<Response> {
  return fetch(url, {
    method: method ?? (body ? "POST" : "GET"),
    // Otherwise Bun would itself repeat a request sent on a dead connection.
    keepalive: false,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** Yields the events of a stream; throws when the connection breaks. */
export async function* eventsOf(response: Response): AsyncGenerator<WireEvent> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    const blocks = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parsed(block);
      if (event) yield event;
    }
  }
}

/** Parses one event; a comment, or a lone `retry`, is none. */
function parsed(block: string): WireEvent | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([a-z]+):? ?(.*)$/s.exec(line) ?? [];
    if (name) fields[name] = value;
  }
  const { data, ...others } = fields;
  return data === undefined ? undefined : { ...others, data };
}
