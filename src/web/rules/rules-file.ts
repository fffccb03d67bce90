import { signal } from "@preact/signals";
import type { Api } from "../../client/api.ts";
import { isReady } from "../../contract/routes/server.ts";
import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import type { Router } from "../shared/route.ts";

const EVERY_MS = 20_000;

type RulesFileNeed = { api: Api; router: Router; signal: AbortSignal };

/**
 * The state of the operator's rules file. It is read at the start, on each change of page, and regularly while the page
 * is visible.
 */
export function createRulesFile({ api, router, signal: whileSignedIn }: RulesFileNeed) {
  const status = signal<RulesFileStatus | undefined>(undefined);

  async function read(): Promise<void> {
    const ready = await api.call(isReady).catch(() => undefined);
    // While the server does not answer, keep its last answer.
    if (ready && !whileSignedIn.aborted) status.value = "rules" in ready ? ready.rules : undefined;
  }

  const readIfSeen = () => {
    if (document.visibilityState === "visible") void read();
  };
  const timer = setInterval(readIfSeen, EVERY_MS);
  document.addEventListener("visibilitychange", readIfSeen, { signal: whileSignedIn });
  const stopFollowing = router.route.subscribe(() => void read());
  whileSignedIn.addEventListener("abort", () => {
    clearInterval(timer);
    stopFollowing();
  });
  return { status };
}
