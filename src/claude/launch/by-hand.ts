import { PERMISSION_TOOL } from "../../contract/approvals/approval.ts";
import type { Supervision } from "../../contract/sessions/supervision.ts";
import type { JsonObject } from "../../contract/values.ts";
import { permissionSettings } from "../settings/permission-settings.ts";
import { sealingVariables } from "./environment.ts";

/** What a claude that somebody starts by hand is told, beside its MCP config, so that it is sealed like one of ours. */
export function byHandArguments(spec: { supervision: Supervision; privatePaths: string[] }): string[] {
  const asking = ["--strict-mcp-config", "--permission-mode", "default", "--permission-prompt-tool", PERMISSION_TOOL];
  if (spec.supervision === "inherit") return asking;
  const { sources, settings } = permissionSettings({ ...spec, canAsk: true });
  // Nobody knows yet which version will be started.
  const sealed: JsonObject = { ...settings, env: sealingVariables(undefined) };
  return [...asking, `--setting-sources=${sources}`, "--disable-slash-commands", "--settings", JSON.stringify(sealed)];
}
