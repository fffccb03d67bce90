import type { Api, ServerWords } from "../../client/api.ts";
import { type Config, isLoopback, localUrl } from "../../config.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { readOperatorToken } from "../../operator-token.ts";
import { VERSION } from "../../version.ts";
import { CommandFailed } from "../terminal/terminal.ts";
import { fileFailure, systemCode } from "./file-failure.ts";
import { isGone, readServerFile, type ServerFile } from "./server-file.ts";

const WORDS: ServerWords = {
  unreachable: unreachableText,
  noPlexus: (url, status) => `${url} does not answer like Plexus (HTTP ${status}).`,
  otherVersion: (url) => `${url} answered what Plexus ${VERSION} does not understand: is it another version?`,
};

/**
 * The API of the server that this command addresses, with a token that the server accepts. The signal ends its
 * requests. The client is loaded only here, because commands that start or stop a server do not need it.
 */
export async function openApi(config: Config, signal?: AbortSignal): Promise<Api> {
  // Fail before any work if the server can't be reached.
  reachServer(config);
  const { createApi } = await import("../../client/api.ts");
  const fetch = (url: string, init: RequestInit) => {
    const signals = [init.signal, signal].filter((one) => one != null);
    return fetchUnproxied(url, { ...init, signal: AbortSignal.any(signals) });
  };
  return createApi({ server: () => reachServer(config), fetch, words: WORDS, door: "terminal" });
}

/** Whether the server refused a request or could not be reached. Any other error is a bug. */
export function isServerFailure(cause: unknown): cause is Refused | CommandFailed {
  return cause instanceof Refused || cause instanceof CommandFailed;
}

/** The server's address, and the token that it accepts. */
export function reachServer(config: Config): { url: string; token: string | undefined } {
  const place = locateServer(config);
  return { url: place.url, token: tokenFor(config, place) };
}

type Place = { url: string; file: ServerFile | undefined };

/** The address from the settings, else the one that the data dir's server noted, else the default one. */
export function locateServer(config: Config): Place {
  if (config.url) return { url: baseOf(config.url), file: undefined };
  const file = readServerFile(config.dataDir);
  if (file && isGone(file)) throw new Refused(0, "unreachable", notRunningText(file.url));
  return { url: file?.url ?? localUrl(config.host, config.port), file };
}

/** Fetches from our own server: without a proxy, and without redirects, which Plexus never sends. */
export function fetchUnproxied(url: string, init: BunFetchRequestInit): Promise<Response> {
  const isHere = isLoopback(hostOf(url));
  return fetch(url, { ...init, redirect: "manual", ...(isHere && { proxy: false }) });
}

/** The same, with an error message that says what to do. */
export async function fetchDirectly(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchUnproxied(url, init);
  } catch (cause) {
    throw new Refused(0, "unreachable", unreachableText(new URL(url).origin, cause));
  }
}

/** The operator's token in the data dir. */
export function storedToken(config: Config): string | undefined {
  try {
    return readOperatorToken(config.dataDir);
  } catch (cause) {
    throw fileFailure(`The data dir ${config.dataDir} can't be read`, cause);
  }
}

function tokenFor(config: Config, { url, file }: Place): string | undefined {
  if (config.token) return config.token;
  if (file?.operator_token === "none") return undefined;
  if (file?.operator_token === "environment") throw tokenIsElsewhere(url);
  if (!file && !isLoopback(hostOf(url))) {
    throw new CommandFailed(
      `Set PLEXUS_TOKEN to a token of ${url}: the one in ${config.dataDir} stays on this machine.`,
    );
  }
  return storedToken(config);
}

export function tokenIsElsewhere(url: string): CommandFailed {
  return new CommandFailed(`The Plexus at ${url} was started with PLEXUS_TOKEN: set PLEXUS_TOKEN to the same here.`);
}

function unreachableText(url: string, cause: unknown): string {
  if (systemCode(cause) === "ECONNREFUSED") return notRunningText(url);
  return `No answer from ${url}: ${cause instanceof Error ? cause.message : String(cause)}`;
}

function notRunningText(url: string): string {
  return `No Plexus is running at ${url}: start it with \`plexus serve\`.`;
}

/** The base without a trailing slash, query or fragment. */
function baseOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
