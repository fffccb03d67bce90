import type { App } from "../../../src/app.ts";
import { startHttpServer } from "../../../src/http/server.ts";

const noMcp = {
  handle: () => Promise.reject(new Error("there is no MCP in this test")),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** A second server for the same app, with clocks that a test can wait for. */
export const startPaced = (app: App, pace: { idleSecs: number; keepAliveMs: number }) =>
  startHttpServer(app, noMcp, { pace });
