import type { Clients } from "./installed.ts";
import { connectSdk1To } from "./sdk-1.ts";
import type { Connect } from "./supervision.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote puts the variable in, which keeps the token out of its arguments.
const AUTHORIZATION = "Authorization:${AUTH_HEADER}";

export function remoteArguments(url: string): string[] {
  return [`${url}/mcp`, "--header", AUTHORIZATION];
}

/** mcp-remote between the server and the SDK, which speaks stdio to it. */
export function connectMcpRemote({ program }: Clients, home: string): Connect {
  return ({ url, token }) =>
    connectSdk1To({
      command: process.execPath,
      args: [program("mcp-remote/dist/proxy.js"), ...remoteArguments(url)],
      env: { AUTH_HEADER: `Bearer ${token}`, PATH: process.env["PATH"] ?? "", HOME: home },
      stderr: "ignore",
    });
}
