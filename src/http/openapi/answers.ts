import type { z } from "zod";
import { answersOf, STATUSES } from "../../contract/routes/declaration/route.ts";
import type { SentEvent } from "../streams/events.ts";
import type { Operation } from "./description.ts";

/** One answer of a route, combined from its declaration and its description. */
export type DescribedAnswer = { status: number; says: string } & (
  | { type: "application/json" | "application/jsonl"; schema: z.ZodType; example: unknown }
  | { type: "text/event-stream"; schema: z.ZodType; example: SentEvent }
  | { type: "text/plain" | "text/html" }
);

export function answersIn({ route, description }: Operation): DescribedAnswer[] {
  const { answer, answers = answer && { 200: answer }, events, lines, text } = description;
  if ("events" in route && events) return [{ status: 200, type: "text/event-stream", schema: route.events, ...events }];
  if ("lines" in route && lines) return [{ status: 200, type: "application/jsonl", schema: route.lines, ...lines }];
  if ("text" in route && text) return [{ status: 200, type: route.text, ...text }];
  const schemas = answersOf(route);
  return STATUSES.flatMap((status): DescribedAnswer[] => {
    const [schema, described] = [schemas[status], answers?.[status]];
    return schema && described ? [{ status, type: "application/json", schema, ...described }] : [];
  });
}
