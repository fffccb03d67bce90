import type { Answers } from "../../../client/deciding/answers.ts";
import type { Review, Reviews } from "../../../client/deciding/reviews.ts";
import type { InboxItem } from "../../../client/inbox.ts";
import { APPROVAL_OUTCOMES } from "../../terminal/event-text.ts";
import { type Line, line } from "../../terminal/lines.ts";
import { type Drafts, withDraft } from "../drafts.ts";
import { requestLines, saidLines } from "../request-lines.ts";
import { createScroll } from "../screen/scroll.ts";

const EDITED = "edited: a allows it like this, e goes on editing, Esc drops the edit";

type DetailNeed = {
  /** The request in view. */
  shown: () => InboxItem | undefined;
  reviews: Reviews;
  drafts: Drafts;
  answers: Answers;
  fail: (cause: unknown) => void;
};

/** The selected request in full, with its scroll position. */
export function createDetail({ shown, reviews, drafts, answers, fail }: DetailNeed) {
  const scroll = createScroll();
  let shownId: string | undefined;
  /** The formatted lines, cached until the request changes. */
  let made: { id: string; columns: number; lines: Line[] } | undefined;
  const forget = () => {
    made = undefined;
  };
  for (const part of [reviews, drafts, answers]) part.onChange(forget);

  function linesOf({ approval, outcome }: InboxItem, columns: number): Line[] {
    const { id } = approval;
    const known = reviews.known(id);
    if (!known && !outcome) reviews.review(approval).catch(fail);
    if (made?.id !== id || made.columns !== columns) {
      const review: Review = known ?? { approval, context: undefined, dangers: [] };
      const edited = withDraft(review, drafts);
      const note = edited === review ? [] : [line(EDITED, "cyan")];
      const request = requestLines(edited, columns, answers.of(id));
      made = { id, columns, lines: [...note, ...request, ...saidLines(review.approval, columns)] };
    }
    return made.lines;
  }

  /** Scrolls to the top when another request comes into view. */
  function follow(): InboxItem | undefined {
    const item = shown();
    if (shownId !== item?.approval.id) {
      shownId = item?.approval.id;
      scroll.toTop();
    }
    return item;
  }

  return {
    scrollBy(rows: number): void {
      follow();
      scroll.by(rows);
    },
    /** The visible rows. A text in progress stands before the request. */
    view(columns: number, rows: number, written: Line[] = []): { lines: Line[]; part: string } {
      const item = follow();
      if (!item) return { lines: [], part: "" };
      const lines = linesOf(item, columns);
      if (written.length > 0) return { lines: [...written, ...lines].slice(0, rows), part: "" };
      return scroll.view(item.outcome ? [outcomeLine(item), ...lines] : lines, rows);
    },
  };
}

export function outcomeLine({ approval, outcome }: InboxItem): Line {
  if (!outcome) return [];
  const { mark, style, words } = APPROVAL_OUTCOMES[outcome.status];
  const reason = outcome.message ? `: ${outcome.message}` : "";
  return line(`${mark} ${approval.tool_name} of ${approval.session_name} ${words(outcome.by)}${reason}`, style);
}
