import { effect, signal } from "@preact/signals";
import type { Api } from "../client/api.ts";
import type { Caller } from "../contract/sign-in.ts";
import { createHistory } from "./history/record.ts";
import { createArrangement } from "./inbox/arrangement.ts";
import { createDeciding } from "./inbox/deciding.ts";
import { createRequests } from "./inbox/requests.ts";
import { createDevicePush } from "./install/push.ts";
import { createLive } from "./live.ts";
import { createRuleList } from "./rules/rule-list.ts";
import { createRulesFile } from "./rules/rules-file.ts";
import { createSessionList } from "./sessions/session-list.ts";
import { createTemplates } from "./sessions/templates.ts";
import type { SharedParts } from "./shared/parts.ts";

export type User = ReturnType<typeof createUser>;

type UserNeed = {
  caller: Caller;
  api: Api;
  shared: SharedParts;
  /** Whether the failure means that the person is no longer signed in, which ends this user. */
  onRefused: (cause: unknown) => boolean;
};

/**
 * Everything that one person has loaded or done here, from sign-in until disposal. The next person finds nothing of it.
 */
export function createUser({ caller, api, shared, onRefused }: UserNeed) {
  const over = new AbortController();
  const { signal: whileSignedIn } = over;
  const requests = createRequests({ api, now: shared.now, signal: whileSignedIn });
  const arrangement = createArrangement(requests.inbox, shared.preferences);
  const deciding = createDeciding({ api, requests, shared, onRefused, signal: whileSignedIn });
  const history = createHistory({ api, announcer: shared.announcer, signal: whileSignedIn });
  const sessions = createSessionList({ api, announcer: shared.announcer, signal: whileSignedIn });
  const rules = createRuleList({ api, caller, announcer: shared.announcer, signal: whileSignedIn });
  const rulesFile = createRulesFile({ api, router: shared.router, signal: whileSignedIn });
  const live = createLive({ api, caller, requests, deciding, history, sessions, rules, shared, onRefused });
  const push = createDevicePush({ api, shared, signal: whileSignedIn });
  void push.takeOver();
  void live.follow(whileSignedIn);
  /** Shows the number of requests in the title, where the tab shows it. */
  const unbadge = effect(() => {
    const count = requests.pendingCount.value;
    document.title = count > 0 ? `(${count}) Plexus` : "Plexus";
    // And on the icon of the installed app.
    void navigator.setAppBadge?.(count).catch(() => undefined);
  });
  return {
    caller,
    requests,
    arrangement,
    deciding,
    history,
    sessions,
    rules,
    rulesFile,
    live,
    push,
    templates: createTemplates(caller.name),
    isHelpOpen: signal(false),
    isPaletteOpen: signal(false),
    isStartOpen: signal(false),
    /** Returns the number of denials that were never sent. */
    dispose(): number {
      over.abort();
      unbadge();
      document.title = "Plexus";
      void navigator.clearAppBadge?.().catch(() => undefined);
      return deciding.holding.drop();
    },
  };
}
