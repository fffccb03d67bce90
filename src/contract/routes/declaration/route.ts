import type { z } from "zod";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export const STATUSES = [200, 201, 202] as const;
export type Status = (typeof STATUSES)[number];

/** The query and body of a request. */
type Asked = { query?: z.ZodObject; body?: z.ZodType };

/**
 * The kinds of answers: a document with 200, a document by status, server-sent events, one document per line, or text.
 */
type Answered =
  | { answer: z.ZodType }
  | { answers: { [S in Status]?: z.ZodType } }
  | { events: z.ZodType }
  | { lines: z.ZodType }
  | { text: "text/plain" | "text/html" };

/**
 * The contract between server and client of a route. The server adds a description and a handler (`src/http/serve.ts`).
 */
export type Route = { method: Method; path: string } & Asked & Answered;

/** Declares a route; `:name` in its path is a parameter. */
export function route<const M extends Method, const P extends string, const W extends Asked & Answered>(
  method: M,
  path: P,
  wire: W,
): { method: M; path: P } & W {
  return { method, path, ...wire };
}

/** Returns the schemas of a route's documents by status; empty for a stream or text. */
export function answersOf(route: Route): { [S in Status]?: z.ZodType } {
  if ("answer" in route) return { 200: route.answer };
  return "answers" in route ? route.answers : {};
}

/** The values of a path's parameters. */
export type ParamsOf<R extends Route> = { [Name in NamesIn<R["path"]>]: string };

/** The query as a client passes it; optional parts may be left out. */
export type QueryOf<R extends Route> = R extends { query: infer Q extends z.ZodType } ? z.input<Q> : undefined;

/** The body as a client passes it. */
export type BodyOf<R extends Route> = R extends { body: infer B extends z.ZodType } ? z.input<B> : undefined;

/** The document of an answer, with any status. */
export type AnswerOf<R extends Route> = R extends { answer: infer A extends z.ZodType }
  ? z.output<A>
  : R extends { answers: infer A extends { [S in Status]?: z.ZodType } }
    ? z.output<A[keyof A & Status]>
    : never;

/** One event of a stream, or one line of an export. */
export type ItemOf<R extends Route> = R extends { events: infer E extends z.ZodType }
  ? z.output<E>
  : R extends { lines: infer L extends z.ZodType }
    ? z.output<L>
    : never;

type NamesIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;
