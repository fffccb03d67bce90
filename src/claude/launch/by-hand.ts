import { PERMISSION_TOOL } from "../../contract/approvals/approval.ts";
import type { Supervision } from "../../contract/sessions/supervision.ts";
import type { JsonObject } from "../../contract/values.ts";
import { permissionSettings } from "../settings/permission-settings.ts";
import { sealingVariables } from "./environment.ts";

/** The arguments that seal a claude started by hand like one that Plexus starts, except for its MCP config. */
export function byHandArguments(spec: { supervision: Supervision; privatePaths: string[] }): string[] {
  const asking = ["--strict-mcp-config", "--permission-mode", "default", "--permission-prompt-tool", PERMISSION_TOOL];
  if (spec.supervision === "inherit") return asking;
  const { sources, settings } = permissionSettings({ ...spec, canAsk: true });
  // The version that will be started is not known yet.
  const sealed: JsonObject = { ...settings, env: sealingVariables(undefined) };
  return [...asking, `--setting-sources=${sources}`, "--disable-slash-commands", "--settings", JSON.stringify(sealed)];
}
