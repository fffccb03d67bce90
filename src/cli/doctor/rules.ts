import type { Config } from "../../config.ts";
import { isReady } from "../../contract/routes/server.ts";
import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import { dangersIn } from "../../core/rulebook/call-dangers.ts";
import { openRulesFile } from "../../core/rulebook/rules-file.ts";
import { openApi } from "../server/server-client.ts";
import type { Finding } from "./finding.ts";

const REMEDY = "Correct the file: until then nothing that it allows is allowed. The server reads it again by itself.";

/** Checks the operator's rules file, from --rules or as the running server reports it; `undefined` if there is none. */
export async function lookAtRules(
  config: Config,
  isServed: boolean,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const status =
    config.rules === undefined ? isServed && (await ofServer(config, signal)) : ofFile(config, config.rules);
  return status ? findingOf(status) : undefined;
}

async function ofServer(config: Config, signal: AbortSignal): Promise<RulesFileStatus | undefined> {
  const ready = await (await openApi(config, signal)).call(isReady);
  return "rules" in ready ? ready.rules : undefined;
}

/** Tries the examples as a server would if it were started in this directory. */
function ofFile({ home, path: search, dataDir }: Config, path: string): RulesFileStatus | undefined {
  const workingDir = process.cwd();
  const place = { workingDir, addDirs: [], privatePaths: [dataDir], home, path: search };
  return openRulesFile({ path, place, hasDangers: dangersIn(workingDir), onRead: () => undefined }).current().status;
}

function findingOf({ path, ok, rules, problems }: RulesFileStatus): Finding {
  if (ok) return { step: "rules", state: "ok", says: `${rules} ${rules === 1 ? "rule" : "rules"} in ${path}` };
  return { step: "rules", state: "failed", says: `${path}: ${problems.join("; ")}`, remedy: REMEDY };
}
