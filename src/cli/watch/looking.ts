import { namedPath } from "../../contract/approvals/named-path.ts";
import { OUTCOMES } from "../terminal/event-text.ts";
import { askLines } from "./ask-lines.ts";
import type { Choosing } from "./choosing.ts";
import type { Drafts } from "./drafts.ts";
import { type Examined, type Examining, judged } from "./examining.ts";
import { layoutOf } from "./frame.ts";
import type { Size } from "./full-screen.ts";
import type { Ask, Inbox } from "./inbox.ts";
import { type Line, line } from "./lines.ts";

const EDITED = "edited: a allows it like this, e goes on editing, Esc drops the edit";

type LookingNeed = {
  inbox: Inbox;
  examining: Examining;
  drafts: Drafts;
  choosing: Choosing;
  fail: (cause: unknown) => void;
};

/** The ask that is looked at, in full, and how far it is scrolled. */
export function createLooking({ inbox, examining, drafts, choosing, fail }: LookingNeed) {
  let scroll = 0;
  let lookedAt: string | undefined;
  let made: { key: string; lines: Line[] } | undefined;

  /** Made once, for as long as nothing about them changes. */
  function linesOf({ approval, outcome }: Ask, columns: number): Line[] {
    const { id } = approval;
    const known = examining.known(id);
    if (!known && !outcome) examining.examine(approval).catch(fail);
    const key = [id, known !== undefined, columns, drafts.version(), choosing.version()].join();
    if (made?.key !== key) {
      const examined: Examined = known ?? { approval, context: undefined, dangers: [] };
      const edited = withDraft(examined, drafts);
      const note = edited === examined ? [] : [line(EDITED, "cyan")];
      made = { key, lines: [...note, ...askLines(edited, columns, choosing.of(id))] };
    }
    return made.lines;
  }

  /** Another one is looked at from its first line on. */
  function follow(): Ask | undefined {
    const ask = inbox.selected();
    if (lookedAt !== ask?.approval.id) [lookedAt, scroll] = [ask?.approval.id, 0];
    return ask;
  }

  return {
    scrollBy(rows: number): void {
      follow();
      scroll += rows;
    },
    /** What there is to see of it, and from which line on. */
    detail(size: Size): { detail: Line[]; scroll: number } {
      const ask = follow();
      if (!ask) return { detail: [], scroll };
      const lines = linesOf(ask, size.columns);
      const detail = ask.outcome ? [outcomeLine(ask), ...lines] : lines;
      scroll = Math.max(0, Math.min(scroll, detail.length - layoutOf(size, inbox.size()).detail));
      return { detail, scroll };
    },
    /** As it was asked, or as the person has edited it. */
    examine: async (ask: Ask): Promise<Examined> => withDraft(await examining.examine(ask.approval), drafts),
  };
}

export function outcomeLine({ approval, outcome }: Ask): Line {
  if (!outcome) return [];
  const { mark, style, words } = OUTCOMES[outcome.status];
  const reason = outcome.message ? `: ${outcome.message}` : "";
  return line(`${mark} ${approval.tool_name} of ${approval.session_name} ${words(outcome.by)}${reason}`, style);
}

export function withDraft(examined: Examined, drafts: Drafts): Examined {
  const { approval, context } = examined;
  const input = drafts.inputFor(approval.id);
  if (!input) return examined;
  const edited = { ...approval, input };
  if (!context) return judged(edited, context);
  // Of another file, or another skill, nothing is known here.
  const isSameFile = namedPath(edited) === namedPath(approval);
  const isSameSkill = input["skill"] === approval.input["skill"];
  return judged(edited, {
    ...context,
    file: isSameFile ? context.file : null,
    real_path: isSameFile ? context.real_path : null,
    skill: isSameSkill ? context.skill : null,
  });
}
