import type { Principal } from "../app.ts";

/** The resources that a request holds. They are released when the handler returns, unless the answer stays open. */
type Held = { stayOpen(): Disposable; stayOpenWithBody(): Disposable };

/** The sender of a request; `anonymous` if `--auth none` admitted it without a token. */
export type Caller = {
  principal: Principal;
  anonymous: boolean;
  held: Held;
  /** Fires when the server stops: calls that wait then answer with what they have. */
  stopping: AbortSignal;
  /** The request arrived after the server began to stop. */
  isLate: boolean;
};
