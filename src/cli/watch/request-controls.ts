import type { Api } from "../../client/api.ts";
import { createAnswers } from "../../client/deciding/answers.ts";
import { createConfirmation } from "../../client/deciding/confirmation.ts";
import { createDecider } from "../../client/deciding/decider.ts";
import { createDecisions } from "../../client/deciding/decisions.ts";
import { createRemembering, offeredFor } from "../../client/deciding/remember.ts";
import { createReviews, type Review } from "../../client/deciding/reviews.ts";
import type { InboxItem, RequestEnd } from "../../client/inbox.ts";
import type { Config } from "../../config.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { Rule } from "../../contract/rules/rule.ts";
import type { JsonObject } from "../../contract/values.ts";
import { madeText } from "../commands/rules/rule-text.ts";
import type { Style } from "../terminal/terminal.ts";
import { createDrafts, withDraft } from "./drafts.ts";
import { createRequestKeys } from "./request-keys.ts";

type RequestControlsNeed = {
  config: Config;
  api: Api;
  /** The request in view. */
  current: () => InboxItem | undefined;
  onDecided: (id: string) => void;
  onBeaten: (id: string, outcome: RequestEnd) => void;
  edit: (item: InboxItem) => Promise<void>;
  say: (text: string, style?: Style) => void;
  /** Reports something that is not about the request in view. */
  note: (text: string) => void;
  fail: (cause: unknown) => void;
};

/** Everything for reviewing requests and deciding them by key, in `watch` and in `run`. */
export function createRequestControls(need: RequestControlsNeed) {
  const { config, api, current, onDecided, onBeaten, edit, say, note, fail } = need;
  const reviews = createReviews({ api });
  const drafts = createDrafts(config);
  const answers = createAnswers();
  const remembering = createRemembering({ api });
  /** The request as made, or as the person edited it. */
  const review = async ({ approval }: InboxItem): Promise<Review> => withDraft(await reviews.review(approval), drafts);
  const confirmation = createConfirmation({ now: () => performance.now() });
  const decisions = createDecisions({ api, onDecided, onBeaten });
  const decider = createDecider({ confirmation, decisions, reviews, selected: current });
  const remembered = (rule: Rule) => note(`Allowed. ${madeText(rule)}`);
  const parts = { decider, confirmation, drafts, answers, remembering };
  const offered = (approval: Approval, input: JsonObject) => offeredFor(approval, input, api);
  const keys = createRequestKeys({ ...parts, current, review, offered, edit, remembered, say, note, fail });
  return { reviews, drafts, answers, remembering, review, confirmation, decisions, keys };
}
