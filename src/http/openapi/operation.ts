import type { z } from "zod";
import type { ErrorCode } from "../../contract/errors.ts";
import type { AnswerName, BodyName } from "./answers.ts";

/** A document, a stream whose `data` lines are documents, a document on each line, or text of another kind. */
export type Answer =
  | { says: string; json: AnswerName }
  | { says: string; events: AnswerName }
  | { says: string; lines: AnswerName }
  | { says: string; text: "text/plain" | "text/html" };

export type Operation = {
  method: "get" | "post" | "delete";
  /** As the router spells it. */
  path: string;
  id: string;
  tag: keyof typeof TAGS;
  summary: string;
  details?: string;
  /** Whether it needs a token; `more`: with one it tells more. */
  token?: "none" | "more";
  query?: z.ZodObject;
  body?: BodyName;
  answers: Record<number, Answer>;
  /** Beside those that follow from all this. */
  errors?: ErrorCode[];
};

export const TAGS = {
  Approvals: "Calls that children ask about, and what was decided.",
  Audit: "The hash chains over decisions, for the operator.",
  Sessions: "Children that Plexus starts, turn by turn. `key` is a session's id or its name.",
  Turns: "One prompt and all that followed.",
  Events: "What happens, as it happens.",
  Tokens: "Named tokens, for the operator.",
  Page: "How the web page signs in.",
  Server: "How the server is.",
};
