import { zValidator } from "@hono/zod-validator";
import type { Context, Hono, MiddlewareHandler } from "hono";
import type { z } from "zod";
import type { Principal } from "../app.ts";
import { type ParamsOf, type Route, STATUSES, type Status } from "../contract/routes/declaration/route.ts";
import { type Caller, callerOf, type Env, refuseRevoked } from "./middleware/auth.ts";
import { jsonBody } from "./middleware/body.ts";
import { refuseInvalid } from "./middleware/errors.ts";
import type { Description, Operation } from "./openapi/description.ts";
import { answerEvents, type EventSource, type Streaming } from "./streams/events.ts";
import { answerLines } from "./streams/lines.ts";

/** A route with everything that registering and describing it needs. */
export type Served = Operation & {
  guards: MiddlewareHandler<Env>[];
  answer(c: Validated, streaming: Streaming): Promise<Response>;
};
/** A route whose handler accepts a request without a caller; only such routes may be open. */
export type ServedOpenly = Served & { token: "none" | "more" };

type Validated = Context<Env, string, { in: object; out: { query: unknown; json: unknown } }>;

/** The arguments of a handler: validated parts of the request, and the context for the rest. */
type Given<R extends Route> = {
  params: ParamsOf<R>;
  query: R extends { query: infer Q extends z.ZodType } ? z.output<Q> : undefined;
  body: R extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;
  c: Context<Env>;
};
type GivenByCaller<R extends Route> = Given<R> & { principal: Principal; caller: Caller };
type GivenOpenly<R extends Route> = Given<R> & { principal: Principal | undefined };

/**
 * The result of a handler: a document, with its status if several are declared; the source of a stream; or a response.
 */
type Returned<R extends Route> = R extends { answer: infer A extends z.ZodType }
  ? z.output<A>
  : R extends { answers: infer A extends object }
    ? ReturnedByStatus<A>
    : R extends { events: infer E extends z.ZodType }
      ? EventSource<z.output<E>>
      : R extends { lines: infer L extends z.ZodType }
        ? AsyncGenerator<z.output<L>>
        : Response;
type ReturnedByStatus<A extends object> =
  IsUnion<keyof A> extends true
    ? { [S in keyof A]: { status: S; answer: OutputOf<A[S]> } }[keyof A]
    : OutputOf<A[keyof A]>;
type OutputOf<T> = T extends z.ZodType ? z.output<T> : never;
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;

/**
 * Serves a declared route to callers with a token: `serve(route, description).by(handler)`. The `guards` may refuse a
 * caller before the body is read.
 */
export function serve<R extends Route>(
  route: R,
  description: Description<R> & { guards?: MiddlewareHandler<Env>[] },
): { by(handle: (given: GivenByCaller<R>) => Promise<Returned<R>>): Served } {
  return {
    by: (handle) => ({
      route,
      description,
      token: "needed",
      guards: description.guards ?? [],
      async answer(c, streaming) {
        const caller = callerOf(c.get("caller"));
        // The token may have been revoked while the body arrived.
        refuseRevoked(caller);
        const given = { ...givenIn<R>(c), caller, principal: caller.principal };
        return respond(c, route, await handle(given), streaming);
      },
    }),
  };
}

/** Serves a declared route to anybody; `more`: a caller with a token gets a longer answer. */
export function serveOpenly<R extends Route>(
  route: R,
  description: Description<R> & { token: "none" | "more" },
): { by(handle: (given: GivenOpenly<R>) => Promise<Returned<R>>): ServedOpenly } {
  return {
    by: (handle) => ({
      route,
      description,
      token: description.token,
      guards: [],
      async answer(c, streaming) {
        const given = { ...givenIn<R>(c), principal: c.get("caller")?.principal };
        return respond(c, route, await handle(given), streaming);
      },
    }),
  };
}

/** Adds a route to a Hono app, with its validators before its handler. */
export function register(hono: Hono<Env>, { route, guards, answer }: Served, streaming: Streaming): void {
  const { method, path, body, query } = route;
  for (const guard of guards) hono.on(method, path, guard);
  if (body) hono.on(method, path, jsonBody, zValidator("json", body, refuseInvalid(body, "the body")));
  if (query) hono.on(method, path, zValidator("query", query, refuseInvalid(query, "the query")));
  hono.on(method, path, (c: Validated) => answer(c, streaming));
}

/** The validators before the handler have given these the declared types. */
function givenIn<R extends Route>(c: Validated): Given<R> {
  return { params: c.req.param(), query: c.req.valid("query"), body: c.req.valid("json"), c } as Given<R>;
}

/** `serve` has checked the type of the handler's result, and the declaration says which type it is. */
function respond(c: Validated, route: Route, returned: unknown, streaming: Streaming): Response {
  if ("events" in route) return answerEvents(c, streaming, returned as EventSource<unknown>);
  if ("lines" in route) return answerLines(c, returned as AsyncGenerator<unknown>);
  if ("text" in route) return returned as Response;
  if ("answer" in route) return c.json(returned);
  const { answers } = route;
  const [only, ...others] = STATUSES.filter((status) => status in answers);
  if (only && others.length === 0) return c.json(returned, only);
  const { status, answer } = returned as { status: Status; answer: unknown };
  return c.json(answer, status);
}
