import { z } from "zod";
import { Id, JsonObject } from "../values.ts";
import { LeftRunning } from "./left-running.ts";
import { SessionDetail } from "./session-view.ts";

const { head } = SessionDetail.shape;
/** The child's processes that could not be stopped; absent if there are none. */
const left_running = z.array(LeftRunning).optional();

/** Sentences about requested settings that have no effect; absent if there are none. */
export const Warnings = z.array(z.string()).min(1);
const warnings = Warnings.optional();
/** The part of an answer that may have warnings. */
export type Warned = { warnings?: string[] | undefined };

/** `created` is present if the session was created for this turn; `working_dir`, if Plexus chose it. */
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
