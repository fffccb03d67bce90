import { z } from "zod";
import { RulesFileStatus } from "../rules/rule.ts";
import { route } from "./declaration/route.ts";

export const Alive = z.object({ status: z.literal("ok") });
/** Without a token it says no more than that it is ready. */
export const Ready = z.union([
  z.strictObject({ status: z.literal("ready") }),
  z.strictObject({
    status: z.literal("ready"),
    version: z.string(),
    database: z.literal("writable"),
    claude: z.string().nullable(),
    claude_version: z.string().nullable(),
    warnings: z.array(z.string()),
    /** The operator's file of rules, where there is one. */
    rules: RulesFileStatus.optional(),
  }),
]);
export const OpenApi = z.looseObject({ openapi: z.literal("3.1.0") });

export const isAlive = route("GET", "/healthz", { answer: Alive });
export const isReady = route("GET", "/readyz", { answer: Ready });
export const getMetrics = route("GET", "/metrics", { text: "text/plain" });
export const getOpenApi = route("GET", "/api/v1/openapi.json", { answer: OpenApi });
export const getDocs = route("GET", "/api/v1/docs", { text: "text/html" });
