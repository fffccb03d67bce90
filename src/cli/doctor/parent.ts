import type { Config } from "../../config.ts";
import type { JsonObject } from "../../contract/values.ts";
import { readPlainFile } from "../../files/plain-file.ts";
import { follow } from "../../files/real-path.ts";
import { type Client, clientOf } from "../connect/clients.ts";
import type { Finding } from "./finding.ts";

/** The file is large because Claude Code keeps its history in it. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Warns if the user's Claude Code does not load the tools of Plexus at start; `undefined` if it does not know Plexus.
 */
export function lookAtParent(config: Config): Finding | undefined {
  const claude = clientOf("claude", config);
  const entry = entryOf(claude);
  if (!entry || "alwaysLoad" in entry) return undefined;
  return {
    step: "parent",
    state: "warning",
    says: `${claude.file} names Plexus without "alwaysLoad": true: an agent sees its tools only once it searches for them`,
    remedy: "Run `plexus connect claude`, or add it to the entry.",
  };
}

/** Other checks report a file that can't be read. */
function entryOf({ file, format }: Client): JsonObject | undefined {
  const settings = readPlainFile(follow(file), MAX_BYTES);
  if (settings.state !== "read") return undefined;
  try {
    return format.entryIn(settings.bytes.toString());
  } catch {
    return undefined;
  }
}
