import type { App } from "../../../src/app.ts";
import { startHttpServer } from "../../../src/http/server.ts";

const noMcp = {
  handle: () => Promise.reject(new Error("there is no MCP in this test")),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

/** Starts a second server for the same app, with time limits that a test can wait for. */
export const startPaced = (app: App, pace: { idleSecs: number; keepAliveMs: number }) =>
  startHttpServer(app, noMcp, { pace });
