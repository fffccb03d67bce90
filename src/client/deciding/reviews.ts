import type { Approval } from "../../contract/approvals/approval.ts";
import type { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import { namedPath } from "../../contract/approvals/named-path.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { getApproval, getApprovalContext } from "../../contract/routes/approvals.ts";
import type { JsonObject } from "../../contract/values.ts";
import { dangersOf } from "../../review/dangers.ts";
import { commandPaths } from "../../review/real-paths.ts";
import type { Danger } from "../../review/shell/index.ts";
import type { Api } from "../api.ts";
import { keepNewest } from "../keep-newest.ts";
import { createListeners } from "../listeners.ts";

/** A request with everything needed to judge it; without `context`, something could not be read. */
export type Review = { approval: Approval; context: ApprovalContext | undefined; dangers: Danger[] };
export type Reviews = ReturnType<typeof createReviews>;

const MAX_KEPT = 100;
/** The server follows at most this many paths of a command. */
const MAX_COMPARED = 200;

/** Reads the complete input of a request and its context, once for each request. */
export function createReviews({ api }: { api: Api }) {
  const { onChange, changed } = createListeners();
  const kept = new Map<string, Review>();
  const underWay = new Map<string, Promise<Review>>();

  async function read(approval: Approval): Promise<Review> {
    const sent = { params: { id: approval.id } };
    const [whole, context] = await Promise.all([
      unlessRefused(api.call(getApproval, sent)),
      unlessRefused(api.call(getApprovalContext, sent)),
    ]);
    const review = reviewOf(whole?.approval ?? approval, whole && context);
    if (!review.context) return review;
    keepNewest(kept, approval.id, review, MAX_KEPT);
    changed();
    return review;
  }

  return {
    onChange,
    /** Returns the review if it was read before. */
    known: (id: string): Review | undefined => kept.get(id),
    review(approval: Approval): Promise<Review> {
      const known = kept.get(approval.id);
      if (known) return Promise.resolve(known);
      const started = underWay.get(approval.id) ?? read(approval).finally(() => underWay.delete(approval.id));
      underWay.set(approval.id, started);
      return started;
    },
  };
}

/** Builds the review; a request that could not be read completely counts as dangerous. */
export function reviewOf(approval: Approval, context: ApprovalContext | undefined): Review {
  return { approval, context, dangers: dangersOf(approval, context) };
}

/** Builds the review of an edited input. The context of another file or skill is unknown. */
export function editedReview({ approval, context }: Review, input: JsonObject): Review {
  // The suggested rule and the reason for asking are about the original input.
  const { suggested_rule: _, why_asked: __, ...rest } = approval;
  const edited = { ...rest, input };
  if (!context) return reviewOf(edited, context);
  const isSameFile = namedPath(edited) === namedPath(approval);
  const isSameSkill = input["skill"] === approval.input["skill"];
  return reviewOf(edited, {
    ...context,
    file: isSameFile ? context.file : null,
    real_path: isSameFile ? context.real_path : null,
    skill: isSameSkill ? context.skill : null,
    ...linksOfEdited(edited, approval, context),
  });
}

/**
 * If the edited command changes paths that the original didn't, their real paths are unknown, so one of them is added
 * as such.
 */
function linksOfEdited(edited: Approval, approval: Approval, { links = [], working_dir }: ApprovalContext) {
  const { changed, named } = commandPaths(approval, working_dir, MAX_COMPARED);
  const followed = new Set([...changed, ...named]);
  const added = commandPaths(edited, working_dir, MAX_COMPARED).changed.find((path) => !followed.has(path));
  const all = added === undefined ? links : [...links, { path: added, real: null }];
  return all.length > 0 ? { links: all } : {};
}

function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((cause) => {
    if (cause instanceof Refused) return undefined;
    throw cause;
  });
}
