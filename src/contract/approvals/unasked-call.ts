import { z } from "zod";
import { Supervision } from "../sessions/supervision.ts";
import { Id, JsonObject, UnixSeconds } from "../values.ts";

/** A call that ran although Plexus had not allowed it. */
export const UnaskedCall = z.strictObject({
  id: Id,
  session_id: Id,
  session_name: z.string(),
  turn_id: Id,
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: JsonObject,
  /** With `inherit` such calls are expected; otherwise one means that the child can bypass Plexus. */
  supervision: Supervision,
  at: UnixSeconds,
});
export type UnaskedCall = z.infer<typeof UnaskedCall>;
