import type { z } from "zod";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";
export const STATUSES = [200, 201, 202] as const;
export type Status = (typeof STATUSES)[number];

/** What a request carries. */
type Asked = { query?: z.ZodObject; body?: z.ZodType };

/** What comes back: a document with 200, a document by status, server-sent events, a document on each line, or text. */
type Answered =
  | { answer: z.ZodType }
  | { answers: { [S in Status]?: z.ZodType } }
  | { events: z.ZodType }
  | { lines: z.ZodType }
  | { text: "text/plain" | "text/html" };

/** What both ends of a route agree on; the server adds how it is described and what it does (`src/http/serve.ts`). */
export type Route = { method: Method; path: string } & Asked & Answered;

/** Declares a route; `:name` in its path is a parameter. */
export function route<const M extends Method, const P extends string, const W extends Asked & Answered>(
  method: M,
  path: P,
  wire: W,
): { method: M; path: P } & W {
  return { method, path, ...wire };
}

/** The documents that a route answers with, by status; none where it answers with a stream or with text. */
export function answersOf(route: Route): { [S in Status]?: z.ZodType } {
  if ("answer" in route) return { 200: route.answer };
  return "answers" in route ? route.answers : {};
}

/** The values that fill a path. */
export type ParamsOf<R extends Route> = { [Name in NamesIn<R["path"]>]: string };

/** The query as a client gives it; an optional part may be left out. */
export type QueryOf<R extends Route> = R extends { query: infer Q extends z.ZodType } ? z.input<Q> : undefined;

/** The body as a client gives it. */
export type BodyOf<R extends Route> = R extends { body: infer B extends z.ZodType } ? z.input<B> : undefined;

/** The document that comes back, with whatever status. */
export type AnswerOf<R extends Route> = R extends { answer: infer A extends z.ZodType }
  ? z.output<A>
  : R extends { answers: infer A extends { [S in Status]?: z.ZodType } }
    ? z.output<A[keyof A & Status]>
    : never;

/** What one event of a stream, or one line of an export, holds. */
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
