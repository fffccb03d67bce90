import { z } from "zod";
import { UnaskedCall } from "../approvals/unasked-call.ts";
import { Id } from "../values.ts";
import { PageQuery, page } from "./declaration/paging.ts";
import { route } from "./declaration/route.ts";

const UnaskedQuery = PageQuery.extend({ session_id: Id.optional(), turn_id: Id.optional() });
export const UnaskedCallList = z.object({ type: z.literal("ok"), calls: z.array(UnaskedCall), ...page });

export const listUnaskedCalls = route("GET", "/api/v1/unasked", { query: UnaskedQuery, answer: UnaskedCallList });
