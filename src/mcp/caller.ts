import type { Principal } from "../app.ts";

/** Who sent a request; `anonymous` where `--auth none` let it in without a token. */
export type Caller = { principal: Principal; anonymous: boolean };
