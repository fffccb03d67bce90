import { createAnswers } from "../../client/answers.ts";
import type { Api } from "../../client/api.ts";
import { createConfirmation } from "../../client/confirmation.ts";
import { createDecider } from "../../client/decider.ts";
import { createDecisions } from "../../client/decisions.ts";
import type { InboxItem, RequestEnd } from "../../client/inbox.ts";
import { createReviews, type Review } from "../../client/reviews.ts";
import type { Config } from "../../config.ts";
import type { Style } from "../terminal/terminal.ts";
import { createDrafts, withDraft } from "./drafts.ts";
import { createRequestKeys } from "./request-keys.ts";

type RequestControlsNeed = {
  config: Config;
  api: Api;
  /** The request that the person sees. */
  current: () => InboxItem | undefined;
  onDecided: (id: string) => void;
  onBeaten: (id: string, outcome: RequestEnd) => void;
  edit: (item: InboxItem) => Promise<void>;
  say: (text: string, style?: Style) => void;
  fail: (cause: unknown) => void;
};

/** What it takes to review requests and to decide them by key, in `watch` and in `run`. */
export function createRequestControls(need: RequestControlsNeed) {
  const { config, api, current, onDecided, onBeaten, edit, say, fail } = need;
  const reviews = createReviews({ api });
  const drafts = createDrafts(config);
  const answers = createAnswers();
  /** As it was requested, or as the person has edited it. */
  const review = async ({ approval }: InboxItem): Promise<Review> => withDraft(await reviews.review(approval), drafts);
  const confirmation = createConfirmation({ now: () => performance.now() });
  const decisions = createDecisions({ api, onDecided, onBeaten });
  const decider = createDecider({ confirmation, decisions, reviews, selected: current });
  const keys = createRequestKeys({ current, review, decider, confirmation, drafts, answers, edit, say, fail });
  return { reviews, drafts, answers, review, confirmation, decisions, keys };
}
