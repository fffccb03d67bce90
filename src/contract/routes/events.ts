import { z } from "zod";
import { ChangeEvent } from "../change.ts";
import { route } from "./declaration/route.ts";

/** For clients that can't send the header `Last-Event-ID`. */
const ReplayQuery = z.looseObject({ last_event_id: z.string().optional() });

export const followEvents = route("GET", "/api/v1/events", { query: ReplayQuery, events: ChangeEvent });
