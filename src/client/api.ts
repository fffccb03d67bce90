import { z } from "zod";
import { ErrorBody } from "../contract/refusals/errors.ts";
import { Refused } from "../contract/refusals/refused.ts";
import { DOOR_HEADER, type Door } from "../contract/refusals/ways.ts";
import {
  type AnswerOf,
  answersOf,
  type BodyOf,
  type ParamsOf,
  type QueryOf,
  type Route,
} from "../contract/routes/declaration/route.ts";

const ANSWER_WITHIN_MS = 30_000;
/** A newer server may refuse with an unknown code. */
const Refusal = z.object({ error: z.object({ ...ErrorBody.shape.error.shape, code: z.string() }) });

type ApiNeed = {
  /** Called for each request, because a restarted server may listen elsewhere. */
  server: () => { url: string; token: string | undefined };
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  words: ServerWords;
  /** The interface named to the server, which words its refusals for it; a program's by default. */
  door?: Door;
};

/** Messages for a server that does not answer, is not Plexus, or has an unexpected version. */
export type ServerWords = {
  unreachable: (url: string, cause: unknown) => string;
  noPlexus: (url: string, status: number) => string;
  otherVersion: (url: string) => string;
};

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? { [Key in Name]?: undefined }
  : Partial<Value> extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };
type Sent<R extends Route> = Part<"params", ParamsOf<R>> & Part<"query", QueryOf<R>> & Part<"body", BodyOf<R>>;
type Arguments<R extends Route> =
  object extends Sent<R> ? [sent?: Sent<R>, options?: RequestOptions] : [sent: Sent<R>, options?: RequestOptions];
export type RequestOptions = {
  signal?: AbortSignal;
  headers?: Record<string, string>;
  /** Tells the browser to send the request even if the page is closed meanwhile; limited to 64 kB in all. */
  keepalive?: boolean;
};

export type Api = ReturnType<typeof createApi>;

/** A client of the REST API by its declared routes; requests and answers have the server's types. */
export function createApi({ server, fetch, words, door }: ApiNeed) {
  /** Sends a request with the token; throws the server's refusal with its message. */
  async function send(path: string, init: RequestInit): Promise<Response> {
    const { url, token } = server();
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
    if (door) headers.set(DOOR_HEADER, door);
    const response = await fetch(`${url}${path}`, { ...init, headers }).catch((cause: unknown) => {
      throw new Refused(0, "unreachable", words.unreachable(url, cause));
    });
    if (response.ok) return response;
    const refusal = Refusal.safeParse(await jsonOf(response)).data?.error;
    throw new Refused(response.status, refusal?.code, refusal?.message ?? words.noPlexus(url, response.status));
  }

  /** Returns the response itself, for answers that are streamed. */
  function open<R extends Route>(route: R, ...[sent, options]: Arguments<R>): Promise<Response> {
    return send(`${pathOf(route.path, sent?.params)}${queryText(sent?.query)}`, {
      method: route.method,
      ...options,
      ...(sent?.body !== undefined && {
        headers: { "Content-Type": "application/json", ...options?.headers },
        body: JSON.stringify(sent.body),
      }),
    });
  }

  return {
    /** For requests outside of the REST API. */
    fetch: send,
    open,
    /** Sends one request and returns its parsed answer. */
    async call<R extends Route>(route: R, ...[sent, options]: Arguments<R>): Promise<AnswerOf<R>> {
      const signal = options?.signal ?? AbortSignal.timeout(ANSWER_WITHIN_MS);
      const response = await open(route, ...argumentsOf<R>(sent, { ...options, signal }));
      const answer = answerOf(route, response.status)?.safeParse(await jsonOf(response));
      if (answer?.success) return answer.data;
      throw new Refused(response.status, undefined, words.otherVersion(server().url));
    },
  };
}

/** The caller's arguments with more options; TypeScript can't prove their type. */
function argumentsOf<R extends Route>(...given: [sent: Sent<R> | undefined, options: RequestOptions]): Arguments<R> {
  return given as Arguments<R>;
}

/** The declaration ties each status to a schema, which TypeScript can't express for a record. */
function answerOf<R extends Route>(route: R, status: number): z.ZodType<AnswerOf<R>> | undefined {
  const answers: Partial<Record<number, z.ZodType>> = answersOf(route);
  return answers[status] as z.ZodType<AnswerOf<R>> | undefined;
}

function pathOf(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
}

function queryText(query: object = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? "" : `?${given}`;
}

function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}
