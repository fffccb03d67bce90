import type { Principal } from "../app.ts";

/** What a request holds; it is let go when the handler returns, unless its answer stays open. */
type Held = { stayOpen(): Disposable; stayOpenWithBody(): Disposable };

/** Who sent a request; `anonymous` where `--auth none` let it in without a token. */
export type Caller = {
  principal: Principal;
  anonymous: boolean;
  held: Held;
  /** Fires when the server stops: what waits is answered with what there is. */
  stopping: AbortSignal;
  /** It came when the server was stopping already. */
  isLate: boolean;
};
