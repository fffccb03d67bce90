export type WireEvent = { id?: string; retry?: string; event?: string; data: string };

type Call = {
  method?: string;
  token: string;
  headers?: Record<string, string>;
  body?: object;
  signal?: AbortSignal | undefined;
};

/** One request on a connection of its own: what the client sees of it is what this server sent. */
export function request(url: string, { method, token, headers = {}, body, signal }: Call): Promise<Response> {
  return fetch(url, {
    method: method ?? (body ? "POST" : "GET"),
    // Else Bun would repeat by itself what it had sent on a connection that turns out to be dead.
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

/** The events of a stream as they come; throws when the connection breaks. */
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

/** Comments, and a lone `retry`, are no event. */
function parsed(block: string): WireEvent | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^([a-z]+):? ?(.*)$/s.exec(line) ?? [];
    if (name) fields[name] = value;
  }
  const { data, ...others } = fields;
  return data === undefined ? undefined : { ...others, data };
}
