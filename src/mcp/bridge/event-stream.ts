type Listener = {
  /** Told of every sign of life. */
  onHeard?: () => void;
  /** Told of each id by which the stream can be taken up again. */
  onEventId?: ((id: string) => void) | undefined;
};

/** The JSON of each message of an answer, until it ends, however it ends. */
export async function* messagesOf(
  response: Response,
  { onHeard = () => {}, onEventId = () => {} }: Listener = {},
): AsyncGenerator<unknown> {
  try {
    if (response.headers.get("content-type")?.startsWith("application/json")) {
      yield await response.json();
      return;
    }
    let data: string[] = [];
    for await (const line of linesOf(response, onHeard)) {
      if (line.startsWith("id:")) onEventId(line.slice("id:".length).trim());
      if (line.startsWith("data:")) data.push(line.slice("data:".length));
      if (line !== "") continue;
      const message = parsed(data.join("\n"));
      data = [];
      if (message !== undefined) yield message;
    }
  } catch {
    return;
  }
}

/** Put together at their end only, since a message of megabytes arrives in many pieces. */
async function* linesOf(response: Response, onHeard: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const chunk of response.body ?? []) {
    onHeard();
    const [head = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    pieces.push(head);
    for (const next of rest) {
      yield pieces.join("").replace(/\r$/, "");
      pieces = [next];
    }
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
