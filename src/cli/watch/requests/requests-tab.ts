import type { Api } from "../../../client/api.ts";
import { arranged, INBOX_GROUPS, type InboxGroups, listedRows } from "../../../client/arrangement.ts";
import type { Inbox, InboxItem } from "../../../client/inbox.ts";
import type { Config } from "../../../config.ts";
import type { ChangeEvent } from "../../../contract/change.ts";
import { kindOf } from "../../../review/kinds.ts";
import { type Line, line } from "../../terminal/lines.ts";
import type { Style } from "../../terminal/terminal.ts";
import { RULE_KEYS } from "../remember-lines.ts";
import { createRequestControls } from "../request-controls.ts";
import { createFilter, FILTER_KEYS } from "../screen/filter.ts";
import { keyBar } from "../screen/key-bar.ts";
import { DOWN, PAGE_DOWN, PAGE_UP, UP } from "../screen/moving-keys.ts";
import type { Tab } from "../tab.ts";
import { createDetail, outcomeLine } from "./detail.ts";
import { layoutOf, listLines, ruleLine } from "./list-lines.ts";

const KEYS = ["a allow", "A remember", "d deny", "e edit", "/ filter", "b group", "s next"];
const KEYS_WITHOUT_RULE = KEYS.filter((key) => key !== "A remember");
const QUESTION_KEYS = ["1-9 choose", "Enter answer", "a skip", "d deny", "e edit", "/ filter"];

type RequestsTabNeed = {
  config: Config;
  api: Api;
  inbox: Inbox;
  /** The number of rows of the tab. */
  rows: () => number;
  isShown: () => boolean;
  /** Leaves the screen and the keys to this work. */
  away: (work: () => Promise<void>) => Promise<void>;
  say: (text: string, style?: Style) => void;
  redraw: () => void;
  fail: (cause: unknown) => void;
};

/** The tab with the requests that need approval, one of them in full, and the keys that decide it. */
export function createRequestsTab(need: RequestsTabNeed) {
  const { config, api, inbox, rows, isShown, away, say, redraw, fail } = need;
  let groups: InboxGroups = "none";
  const filter = createFilter(arrange);

  /** The request in view; a filter may hide the selected one. */
  const inView = () => (inbox.position() >= 0 ? inbox.selected() : undefined);
  const { reviews, drafts, answers, remembering, confirmation, decisions, keys } = createRequestControls({
    config,
    api,
    // The effect of a key may only hit the request that the person still looks at.
    current: () => (isShown() && !filter.isWriting() ? inView() : undefined),
    onDecided: inbox.remove,
    onBeaten: inbox.settle,
    edit,
    say,
    note: (text) => say(text, "green"),
    fail,
  });
  const detail = createDetail({ shown: inView, reviews, drafts, answers, fail });
  for (const part of [reviews, remembering]) part.onChange(redraw);
  inbox.onChange(() => {
    redraw();
    // The selected request is hidden, but others are not, so select a visible one.
    if (inbox.position() >= 0 || inbox.list().length === 0) return;
    confirmation.hesitate();
    inbox.move(0);
  });

  const listed = () => listedRows(inbox.list(), groups);
  const layout = () => layoutOf(rows(), listed().length);
  const page = () => Math.max(1, layout().detail - 1);

  const moving: Record<string, () => void> = {
    s: inbox.next,
    " ": inbox.next,
    g: () => inbox.move(-inbox.list().length),
    G: () => inbox.move(inbox.list().length),
    J: () => detail.scrollBy(1),
    K: () => detail.scrollBy(-1),
    "/": filter.begin,
    b: () => {
      groups = INBOX_GROUPS[(INBOX_GROUPS.indexOf(groups) + 1) % INBOX_GROUPS.length] ?? "none";
      arrange();
    },
    [PAGE_DOWN]: () => detail.scrollBy(page()),
    [PAGE_UP]: () => detail.scrollBy(-page()),
    ...Object.fromEntries(DOWN.map((key) => [key, () => inbox.move(1)])),
    ...Object.fromEntries(UP.map((key) => [key, () => inbox.move(-1)])),
  };

  function arrange(): void {
    const how = { filter: filter.text(), order: "oldest", groups } as const;
    // A press right after this was meant for the earlier request.
    confirmation.hesitate();
    inbox.arrange((all) => arranged(all, how));
  }

  async function edit({ approval }: InboxItem): Promise<void> {
    const whole = (await reviews.review(approval)).approval;
    await away(async () => {
      const { text, style } = await drafts.edit(whole);
      say(text, style);
    });
  }

  function nothing(): Line {
    if (!inbox.isLoaded()) return [];
    const hidden = inbox.pending().length;
    return line(hidden === 0 ? "No pending requests" : `None of ${hidden} pending requests matches the filter`, "dim");
  }

  function barKeys(): string[] {
    const item = inView();
    if (item && kindOf(item.approval).kind === "questions") return QUESTION_KEYS;
    const id = item?.approval.id ?? "";
    const isRuled = reviews.known(id)?.approval.no_rule === undefined || drafts.inputFor(id) !== undefined;
    return isRuled ? KEYS : KEYS_WITHOUT_RULE;
  }

  const tab: Tab = {
    takeText: (key) => keys.takeText(key) || (isShown() && filter.take(key)),
    take(key) {
      if (!keys.take(key)) moving[key]?.();
    },
    entered: confirmation.hesitate,
    left: confirmation.disarm,
    about: () =>
      [filter.text() && `/${filter.text()}`, groups === "none" ? "" : `by ${groups}`].filter(Boolean).join("  "),
    view(columns) {
      const [now, { list, detail: room }] = [Date.now() / 1000, layout()];
      const rule = keys.ruleLines(columns);
      const item = inView();
      const { lines, part } = detail.view(columns, room, rule?.about);
      const items = inbox.list();
      const shown = { rows: listed(), selectedId: item?.approval.id, now, columns };
      const place = `${part} request ${inbox.position() + 1}/${items.length}`;
      return {
        body: [
          ...(items.length === 0 ? [nothing()] : listLines(shown, list)),
          ruleLine({ item, place, now, columns }),
          ...lines,
        ],
        written: rule?.match ?? keys.reasonLine(columns) ?? filter.line(columns),
        keys: rule ? RULE_KEYS : filter.isWriting() ? FILTER_KEYS : keyBar(barKeys(), columns),
      };
    },
  };
  return {
    ...tab,
    /** Shows this request, even if the filter hides it. */
    show(id: string): void {
      filter.clear();
      inbox.select(id);
    },
    /** Whether the event only repeats our own decision. */
    isOurs: decisions.isOurs,
    /** Handles an event of the server. Returns a line about a request that someone else decided. */
    changed(event: ChangeEvent): Line | undefined {
      const before = inView()?.approval.id;
      let told: Line | undefined;
      for (const settled of inbox.take([event]).settled) {
        told = outcomeLine(settled);
        keys.ended(settled.approval.id);
      }
      if (before !== inView()?.approval.id) confirmation.hesitate();
      return told;
    },
  };
}
