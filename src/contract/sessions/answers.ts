import { z } from "zod";
import { Id, JsonObject } from "../values.ts";
import { LeftRunning } from "./left-running.ts";
import { SessionDetail } from "./session-view.ts";

const { head } = SessionDetail.shape;
/** Processes of the child that could not be ended; only where there are any. */
const left_running = z.array(LeftRunning).optional();

/** The place of a queued turn: 1 starts next. */
export const Place = z.int().positive();

/** What of the settings that were asked for has no effect, in sentences; only where there is something. */
export const Warnings = z.array(z.string()).min(1);
const warnings = Warnings.optional();
/** What goes into an answer that may have some. */
export type Warned = { warnings?: string[] | undefined };

/** There where the session was made for this work; the directory, where the caller had left it to Plexus. */
export const opened = { created: z.literal(true).optional(), working_dir: z.string().optional(), warnings };
export type Opened = Warned & { created?: true; working_dir?: string | undefined };

export const SessionCreated = z.object({
  type: z.literal("created"),
  id: Id,
  name: z.string(),
  working_dir: z.string(),
  head,
  warnings,
});
export type SessionCreated = z.infer<typeof SessionCreated>;
export const SessionForked = z.object({ type: z.literal("forked"), id: Id, head });
export const SessionDeleted = z.object({ type: z.literal("deleted"), id: Id, left_running });
export const TurnCancelled = z.object({ type: z.enum(["cancelled", "not_running"]), session_id: Id, left_running });
export type TurnCancelled = z.infer<typeof TurnCancelled>;

/** One block of a conversation. */
const Block = z.strictObject({ role: z.enum(["root", "user", "assistant"]), content: JsonObject });

export const ConversationTree = z.object({
  type: z.literal("ok"),
  tree_id: Id.nullable(),
  head,
  nodes: z.array(Block.extend({ id: Id, parent_id: Id.nullable() })),
  has_more: z.boolean(),
});
export const ConversationContext = z.object({ type: z.literal("ok"), messages: z.array(Block), has_more: z.boolean() });
