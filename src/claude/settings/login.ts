import { join, resolve } from "node:path";
import { z } from "zod";
import type { JsonObject } from "../../contract/values.ts";
import { type Found, follow, isWithin } from "../../files/real-path.ts";
import { realPath } from "../launch/real-path.ts";
import { readSettings } from "./settings-file.ts";

/** How the user of this machine is logged in, as far as that stands in settings which children don't read. */
export type Login = { helpers: JsonObject; env: Record<string, string> };

/** Commands that fetch a key or refresh it. */
const HELPERS = ["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"];
/** Who pays, where the model is, and the way there. */
const OF_LOGIN =
  /^(ANTHROPIC_|AWS_|GOOGLE_|GCLOUD_|CLOUD_ML_|VERTEX_|AZURE_|CLAUDE_CODE_(USE|SKIP|OAUTH|CLIENT|CERT|API)_|NODE_EXTRA_CA_CERTS$|(HTTPS?|NO)_PROXY$)/;

const Settings = z.looseObject({ env: z.record(z.string(), z.string()).catch({}) });

/**
 * Without it, somebody who can use `claude` at the terminal could have children that can't log in. Settings that lie
 * where a child works, or that a link there leads to, are the project's, whoever's they may be besides.
 */
export function userLogin(env: Record<string, string | undefined>, childsDirs: string[]): Login {
  const configDir = env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || "/", ".claude");
  const found = follow(resolve(configDir, "settings.json"));
  const file = readSettings(found && isOfProject(found, childsDirs) ? undefined : found);
  const settings = Settings.safeParse(file.state === "read" ? file.settings : {}).data ?? { env: {} };
  const helpers = HELPERS.flatMap((name) => (typeof settings[name] === "string" ? [[name, settings[name]]] : []));
  const kept = Object.entries(settings.env).filter(([name]) => OF_LOGIN.test(name));
  return { helpers: Object.fromEntries(helpers), env: Object.fromEntries(kept) };
}

function isOfProject({ real, links }: Found, childsDirs: string[]): boolean {
  const roots = childsDirs.map(realPath);
  return [real, ...links].some((path) => roots.some((root) => isWithin(root, path)));
}
