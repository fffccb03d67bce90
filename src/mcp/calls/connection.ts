import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";

type Signals = { gone: AbortSignal; revoked: AbortSignal; stopping: AbortSignal };

/** What a call knows of the connection that it came by; handed through the SDK beside the request. */
export class Connection {
  /** Fires when the client has closed it. */
  readonly gone: AbortSignal;
  /** Fires when the caller's token is revoked: it is told so, and nothing else. */
  readonly revoked: AbortSignal;
  /** Fires when the server stops: what waits is answered with what there is. */
  readonly stopping: AbortSignal;

  constructor(
    { gone, revoked, stopping }: Signals,
    /** Tells the client by which id another process can take the call up, where the client knows how. */
    readonly onEventId: (id: string) => void = () => {},
  ) {
    this.gone = gone;
    this.revoked = revoked;
    this.stopping = stopping;
  }
}

/** Of a message that nobody has sent, such as one that is replayed. */
const NEVER = new AbortController().signal;
const NOBODY = new Connection({ gone: NEVER, revoked: NEVER, stopping: NEVER });

/** What the SDK is handed with a request: it gives `authInfo` to whoever handles the message. */
export function transportOptions(body: unknown, connection: Connection) {
  const authInfo: AuthInfo = { token: "", clientId: "", scopes: [], extra: { connection } };
  return { authInfo, ...(body !== undefined && { parsedBody: body }) };
}

export function connectionIn(authInfo: AuthInfo | undefined): Connection {
  const connection = authInfo?.extra?.["connection"];
  return connection instanceof Connection ? connection : NOBODY;
}
