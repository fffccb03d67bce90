import { z } from "zod";

/** A line of the CLI's stream-json output. Unknown keys are kept. */
export const ClaudeLine = z.looseObject({ type: z.string(), subtype: z.string().optional() });
export type ClaudeLine = z.infer<typeof ClaudeLine>;

export const PermissionDenial = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: z.record(z.string(), z.unknown()),
});
export type PermissionDenial = z.infer<typeof PermissionDenial>;

export const ResultLine = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  is_error: z.boolean(),
  session_id: z.string(),
  result: z.string().optional(),
  num_turns: z.number().optional(),
  total_cost_usd: z.number().optional(),
  permission_denials: z.array(PermissionDenial).default([]),
});
export type ResultLine = z.infer<typeof ResultLine>;

/** A line that is no JSON object with a type gets the type `unparsed`, with its text. */
export function parseLine(text: string): ClaudeLine {
  try {
    return ClaudeLine.parse(JSON.parse(text));
  } catch {
    return { type: "unparsed", text };
  }
}
