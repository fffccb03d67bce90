import type { Answers } from "../../client/deciding/answers.ts";
import type { Review, Reviews } from "../../client/deciding/reviews.ts";
import type { Inbox, InboxItem } from "../../client/inbox.ts";
import { APPROVAL_OUTCOMES } from "../terminal/event-text.ts";
import { type Drafts, withDraft } from "./drafts.ts";
import { layoutOf } from "./frame.ts";
import type { Size } from "./full-screen.ts";
import { type Line, line } from "./lines.ts";
import { requestLines, saidLines } from "./request-lines.ts";

const EDITED = "edited: a allows it like this, e goes on editing, Esc drops the edit";

type DetailNeed = {
  inbox: Inbox;
  reviews: Reviews;
  drafts: Drafts;
  answers: Answers;
  fail: (cause: unknown) => void;
};

/** The selected request in full, and how far it is scrolled. */
export function createDetail({ inbox, reviews, drafts, answers, fail }: DetailNeed) {
  let scroll = 0;
  let shownId: string | undefined;
  /** Made once, for as long as nothing about the request changes. */
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

  /** Another one is shown from its first line on. */
  function follow(): InboxItem | undefined {
    const item = inbox.selected();
    if (shownId !== item?.approval.id) [shownId, scroll] = [item?.approval.id, 0];
    return item;
  }

  return {
    scrollBy(rows: number): void {
      follow();
      scroll += rows;
    },
    /** What there is to see of it, and from which line on; what is written about it stands before it. */
    view(size: Size, written: Line[] = []): { detail: Line[]; scroll: number } {
      const item = follow();
      if (!item) return { detail: [], scroll };
      const lines = linesOf(item, size.columns);
      if (written.length > 0) return { detail: [...written, ...lines], scroll: 0 };
      const detail = item.outcome ? [outcomeLine(item), ...lines] : lines;
      scroll = Math.max(0, Math.min(scroll, detail.length - layoutOf(size, inbox.list().length).detail));
      return { detail, scroll };
    },
  };
}

export function outcomeLine({ approval, outcome }: InboxItem): Line {
  if (!outcome) return [];
  const { mark, style, words } = APPROVAL_OUTCOMES[outcome.status];
  const reason = outcome.message ? `: ${outcome.message}` : "";
  return line(`${mark} ${approval.tool_name} of ${approval.session_name} ${words(outcome.by)}${reason}`, style);
}
