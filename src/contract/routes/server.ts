import { z } from "zod";
import { RulesFileStatus } from "../rules/rule.ts";
import { UnixSeconds } from "../values.ts";
import { route } from "./declaration/route.ts";

export const Alive = z.object({ status: z.literal("ok") });
/** Without a token, the answer only says that the server is ready. */
export const Ready = z.union([
  z.strictObject({ status: z.literal("ready") }),
  z.strictObject({
    status: z.literal("ready"),
    version: z.string(),
    database: z.literal("writable"),
    claude: z.string().nullable(),
    claude_version: z.string().nullable(),
    warnings: z.array(z.string()),
    /** The state of the operator's rules file, if there is one. */
    rules: RulesFileStatus.optional(),
  }),
]);
/** What the server knows about newer versions; `not_asked` if the operator has configured no source. */
export const NewestVersion = z.discriminatedUnion("state", [
  z.strictObject({ state: z.literal("not_asked") }),
  z.strictObject({
    state: z.literal("known"),
    version: z.string(),
    is_newer: z.boolean(),
    checked_at: UnixSeconds,
  }),
  z.strictObject({ state: z.literal("unknown"), checked_at: UnixSeconds }),
]);
export type NewestVersion = z.infer<typeof NewestVersion>;
export const Version = z.strictObject({
  type: z.literal("ok"),
  version: z.string(),
  /** The commit that it was built from; null if it runs from source. */
  commit: z.string().nullable(),
  newest: NewestVersion,
});
export const OpenApi = z.looseObject({ openapi: z.literal("3.1.0") });

export const isAlive = route("GET", "/healthz", { answer: Alive });
export const isReady = route("GET", "/readyz", { answer: Ready });
export const getVersion = route("GET", "/api/v1/version", { answer: Version });
export const getMetrics = route("GET", "/metrics", { text: "text/plain" });
export const getOpenApi = route("GET", "/api/v1/openapi.json", { answer: OpenApi });
export const getDocs = route("GET", "/api/v1/docs", { text: "text/html" });
