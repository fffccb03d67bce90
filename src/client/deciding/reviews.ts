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

/** A request with all that it takes to judge it; without its context, not all of it could be read. */
export type Review = { approval: Approval; context: ApprovalContext | undefined; dangers: Danger[] };
export type Reviews = ReturnType<typeof createReviews>;

const MAX_KEPT = 100;
/** The server follows no more paths of a command. */
const MAX_COMPARED = 200;

/** Reads the whole input of a request and what it is about, once for each that is looked at. */
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
    /** What was read of it before. */
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

/** A request of which not everything can be read counts as dangerous. */
export function reviewOf(approval: Approval, context: ApprovalContext | undefined): Review {
  return { approval, context, dangers: dangersOf(approval, context) };
}

/** The review of the same request with an edited input: of another file or another skill nothing is known. */
export function editedReview({ approval, context }: Review, input: JsonObject): Review {
  // What is suggested, and why it asks, is about the input as it was requested.
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

/** Of the paths that only the edited command changes it is not known where they lead, which is told of the first. */
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
