import { join, resolve } from "node:path";
import { z } from "zod";
import type { JsonObject } from "../../contract/values.ts";
import { type Found, follow, isWithin } from "../../files/real-path.ts";
import { realPath } from "../launch/real-path.ts";
import { readSettings } from "./settings-file.ts";

/** The part of the user's login that is in settings which children don't read. */
type Login = { helpers: JsonObject; env: Record<string, string> };

/** Commands that fetch a key or refresh it. */
const HELPERS = ["apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh"];
/** Variables for the account, the model's address and the network on the way there. */
const LOGIN_VARIABLES =
  /^(ANTHROPIC_|AWS_|GOOGLE_|GCLOUD_|CLOUD_ML_|VERTEX_|AZURE_|CLAUDE_CODE_(USE|SKIP|OAUTH|CLIENT|CERT|API)_|NODE_EXTRA_CA_CERTS$|(HTTPS?|NO)_PROXY$)/;

const Settings = z.looseObject({ env: z.record(z.string(), z.string()).catch({}) });

/**
 * Lets children log in like the user's own `claude`. Settings inside a directory of the child, or reached through a
 * link there, count as the project's and are not used.
 */
export function userLogin(env: Record<string, string | undefined>, childDirs: string[]): Login {
  const configDir = env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || "/", ".claude");
  const found = follow(resolve(configDir, "settings.json"));
  const file = readSettings(found && isOfProject(found, childDirs) ? undefined : found);
  const settings = Settings.safeParse(file.state === "read" ? file.settings : {}).data ?? { env: {} };
  const helpers = HELPERS.flatMap((name) => (typeof settings[name] === "string" ? [[name, settings[name]]] : []));
  const kept = Object.entries(settings.env).filter(([name]) => LOGIN_VARIABLES.test(name));
  return { helpers: Object.fromEntries(helpers), env: Object.fromEntries(kept) };
}

function isOfProject({ real, links }: Found, childDirs: string[]): boolean {
  const roots = childDirs.map(realPath);
  return [real, ...links].some((path) => roots.some((root) => isWithin(root, path)));
}
