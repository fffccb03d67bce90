import type { Supervision } from "../contract/sessions/supervision.ts";
import type { JsonObject } from "../contract/values.ts";

/** A call that ran although Plexus had not allowed it. */
export type UnaskedCallRow = {
  id: string;
  turnId: string;
  sessionId: string;
  sessionName: string;
  owner: string;
  toolName: string;
  toolUseId: string;
  input: JsonObject;
  supervision: Supervision;
  at: number;
};

export type UnaskedCallStorage = {
  get(id: string): Promise<UnaskedCallRow | undefined>;
  /** Returns as many as fit in memory, newest first, beginning after `cursor`: an input may be megabytes. */
  list(
    scope: { owner?: string | undefined; sessionId?: string | undefined; turnId?: string | undefined },
    page: { cursor?: string | undefined; limit: number },
  ): Promise<{ rows: UnaskedCallRow[]; hasMore: boolean }>;
};
