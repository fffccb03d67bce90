import type { z } from "zod";
import type { ErrorCode } from "../../contract/refusals/errors.ts";
import type { ParamsOf, Route, Status } from "../../contract/routes/declaration/route.ts";
import type { SentEvent } from "../streams/events.ts";
import type { Tag } from "./tags.ts";

/** The description of a route, with an example for every schema in its declaration. */
export type Description<R extends Route> = AnyDescription & ParamWords<R> & BodyExample<R> & AnswerExample<R>;

type Summary = {
  tag: Tag;
  summary: string;
  details?: string;
  /** Errors in addition to those that follow from the declaration. */
  errors?: ErrorCode[];
};
type Example<T> = { says: string; example: T };

/** The meaning of each parameter in the path. */
type ParamWords<R extends Route> = [keyof ParamsOf<R>] extends [never] ? unknown : { params: ParamsOf<R> };

type BodyExample<R extends Route> = R extends { body: infer B extends z.ZodType } ? { body: z.input<B> } : unknown;

type AnswerExample<R extends Route> = R extends { answer: infer A extends z.ZodType }
  ? { answer: Example<z.output<A>> }
  : R extends { answers: infer A extends object }
    ? { answers: { [S in keyof A]: Example<A[S] extends z.ZodType ? z.output<A[S]> : never> } }
    : R extends { events: infer E extends z.ZodType }
      ? { events: Example<SentEvent<z.output<E>>> }
      : R extends { lines: infer L extends z.ZodType }
        ? { lines: Example<z.output<L>> }
        : { text: { says: string } };

/** The description of any route. */
type AnyDescription = Summary & {
  params?: Record<string, string>;
  body?: unknown;
  answer?: Example<unknown>;
  answers?: { [S in Status]?: Example<unknown> };
  events?: Example<SentEvent>;
  lines?: Example<unknown>;
  text?: { says: string };
};

/** A route with its description. */
export type Operation = {
  route: Route;
  description: AnyDescription;
  /** Whether the route needs a token; `more`: a token is optional and gives a longer answer. */
  token: "needed" | "none" | "more";
};
