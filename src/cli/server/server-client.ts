import { z } from "zod";
import { type Config, isLoopback, localUrl } from "../../config.ts";
import { readOperatorToken } from "../../operator-token.ts";
import { VERSION } from "../../version.ts";
import { CommandFailed, ExitCode } from "../terminal/terminal.ts";
import { fileFailure, systemCode } from "./file-failure.ts";
import { isGone, readServerFile, type ServerFile } from "./server-file.ts";

const ANSWER_WITHIN_MS = 30_000;
const Refusal = z.object({ error: z.object({ code: z.string().optional(), message: z.string() }) });

/** The server has understood, and will not. */
export class Refused extends CommandFailed {
  constructor(
    message: string,
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

export type Server = {
  url: string;
  /** Sends the token along; throws the server's own words when it refuses. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** One REST request, and its answer as the schema promises it. */
  request<Answer extends z.ZodType>(
    answer: Answer,
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: object,
  ): Promise<z.infer<Answer>>;
};

/** The server that this command is meant for, with the token that it will take; the signal ends its requests. */
export function findServer(config: Config, signal?: AbortSignal): Server {
  const { url, token } = reachServer(config);

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token) headers.set("Authorization", `Bearer ${token}`);
    const signals = [init.signal, signal].filter((one) => one != null);
    const response = await fetchDirectly(`${url}${path}`, { ...init, headers, signal: AbortSignal.any(signals) });
    if (response.ok) return response;
    const refusal = Refusal.safeParse(await response.json().catch(() => undefined)).data;
    if (!refusal) throw new CommandFailed(`${url} does not answer like Plexus (HTTP ${response.status}).`);
    throw new Refused(refusal.error.message, refusal.error.code);
  }

  return {
    url,
    fetch: send,
    async request(answer, method, path, body) {
      const response = await send(path, {
        method,
        ...(body && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const parsed = answer.safeParse(await response.json().catch(() => undefined));
      if (parsed.success) return parsed.data;
      throw new CommandFailed(`${url} answered what Plexus ${VERSION} does not understand: is it another version?`);
    },
  };
}

/** Where that server is, and the token that it will take. */
export function reachServer(config: Config): { url: string; token: string | undefined } {
  const place = locateServer(config);
  return { url: place.url, token: tokenFor(config, place) };
}

type Place = { url: string; file: ServerFile | undefined };

/** As told, or as the server of the data dir wrote down, or where one would listen by these settings. */
export function locateServer(config: Config): Place {
  if (config.url) return { url: baseOf(config.url), file: undefined };
  const file = readServerFile(config.dataDir);
  if (file && isGone(file)) throw notRunning(file.url);
  return { url: file?.url ?? localUrl(config.host, config.port), file };
}

/** Fetches from our own server: a proxy has no business between us, and a redirect can't be ours. */
export function fetchUnproxied(url: string, init: BunFetchRequestInit): Promise<Response> {
  const isHere = isLoopback(hostOf(url));
  return fetch(url, { ...init, redirect: "manual", ...(isHere && { proxy: false }) });
}

/** The same, with a failure that says what to do. */
export async function fetchDirectly(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchUnproxied(url, init);
  } catch (cause) {
    throw unreachable(new URL(url).origin, cause);
  }
}

/** The operator's token as the data dir has it. */
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

function notRunning(url: string): CommandFailed {
  return new CommandFailed(`No Plexus is running at ${url}: start it with \`plexus serve\`.`, ExitCode.unreachable);
}

function unreachable(url: string, cause: unknown): CommandFailed {
  if (systemCode(cause) === "ECONNREFUSED") return notRunning(url);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandFailed(`No answer from ${url}: ${reason}`, ExitCode.unreachable);
}

/** Without what would end up between the base and a path of ours. */
function baseOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
}
