import { z } from "zod";
import { Id } from "../values.ts";
import { route } from "./declaration/route.ts";

export const DemoStarted = z.strictObject({
  type: z.literal("started"),
  session_id: Id,
  turn_id: Id,
  name: z.string(),
  /** How long after its end the session is removed. */
  kept_secs: z.int().positive(),
});
export type DemoStarted = z.infer<typeof DemoStarted>;

export const startDemo = route("POST", "/api/v1/demo", { answers: { 201: DemoStarted } });
