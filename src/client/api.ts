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
/** A newer server may refuse with a code that is not known here. */
const Refusal = z.object({ error: z.object({ ...ErrorBody.shape.error.shape, code: z.string() }) });

type ApiNeed = {
  /** Looked up for each request: after a restart the server may listen elsewhere. */
  server: () => { url: string; token: string | undefined };
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  words: ServerWords;
  /** In whose words the server refuses; a program's, where it is left out. */
  door?: Door;
};

/** What to tell a person about a server that does not answer, or not like the Plexus that is expected. */
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
  /** Whether the browser sends it also when the page is closed meanwhile; of at most 64 kB in all. */
  keepalive?: boolean;
};

export type Api = ReturnType<typeof createApi>;

/** The REST API by its declared routes: what is sent and what comes back has the types that the server has too. */
export function createApi({ server, fetch, words, door }: ApiNeed) {
  /** Sends the token along; what the server refuses is thrown in its own words. */
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

  /** The response itself, for what is read piece by piece. */
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
    /** For what is no route of the REST API. */
    fetch: send,
    open,
    /** One request, and its answer as the route declares it. */
    async call<R extends Route>(route: R, ...[sent, options]: Arguments<R>): Promise<AnswerOf<R>> {
      const signal = options?.signal ?? AbortSignal.timeout(ANSWER_WITHIN_MS);
      const response = await open(route, ...argumentsOf<R>(sent, { ...options, signal }));
      const answer = answerOf(route, response.status)?.safeParse(await jsonOf(response));
      if (answer?.success) return answer.data;
      throw new Refused(response.status, undefined, words.otherVersion(server().url));
    },
  };
}

/** They are what the caller gave, with more options. */
function argumentsOf<R extends Route>(...given: [sent: Sent<R> | undefined, options: RequestOptions]): Arguments<R> {
  return given as Arguments<R>;
}

/** The declaration ties the status to the schema, which the types of a record can't say. */
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
