import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";

type Signals = { gone: AbortSignal; revoked: AbortSignal; stopping: AbortSignal };

/** The connection by which a call came. It is passed through the SDK beside the request. */
export class Connection {
  /** Fires when the client has closed it. */
  readonly gone: AbortSignal;
  /** Fires when the caller's token is revoked: the call then answers with that alone. */
  readonly revoked: AbortSignal;
  /** Fires when the server stops: calls that wait then answer with what they have. */
  readonly stopping: AbortSignal;

  constructor(
    { gone, revoked, stopping }: Signals,
    /** Sends the client the id by which another process can resume the call, if the client can use it. */
    readonly onEventId: (id: string) => void = () => {},
  ) {
    this.gone = gone;
    this.revoked = revoked;
    this.stopping = stopping;
  }
}

/** For messages without a sender, such as replayed ones. */
const NEVER = new AbortController().signal;
const NOBODY = new Connection({ gone: NEVER, revoked: NEVER, stopping: NEVER });

/** Options for the SDK. It passes `authInfo` on to the handler of the message. */
export function transportOptions(body: unknown, connection: Connection) {
  const authInfo: AuthInfo = { token: "", clientId: "", scopes: [], extra: { connection } };
  return { authInfo, ...(body !== undefined && { parsedBody: body }) };
}

export function connectionIn(authInfo: AuthInfo | undefined): Connection {
  const connection = authInfo?.extra?.["connection"];
  return connection instanceof Connection ? connection : NOBODY;
}
