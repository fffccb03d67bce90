import { costText, SESSION_WORDS } from "../../../client/words/words.ts";
import type { SessionSummary } from "../../../contract/sessions/session-view.ts";
import { duration } from "../../../contract/text/duration.ts";
import { type Line, line, type Span, span } from "../../terminal/lines.ts";
import type { Style } from "../../terminal/terminal.ts";
import { inColumns, windowFrom } from "../screen/columns.ts";
import { ruled } from "../screen/rule.ts";

const HEADER = ["SESSION", "STATUS", "PENDING", "COST", "ACTIVE"];
const LIMITS = [20, 14, 7, 9, 7];
const NARROW = 70;
const NARROW_LIMITS = [14, 14, 7, 8, 7];
const STYLES: Partial<Record<SessionSummary["status"], Style>> = {
  awaiting_permission: "yellow",
  running: "green",
  failed: "red",
};

type Listed = { sessions: SessionSummary[]; selectedId: string | undefined; now: number; columns: number };

/** A header, and the part of the list around the selected session. */
export function sessionLines({ sessions, selectedId, now, columns }: Listed, height: number): Line[] {
  const at = sessions.findIndex(({ id }) => id === selectedId);
  const from = windowFrom(sessions.length, height - 1, at);
  const window = sessions.slice(from, from + height - 1);
  const cells = window.map((session) => [
    session.name,
    SESSION_WORDS[session.status],
    pendingText(session),
    costText(session.cost_usd),
    duration(now - session.last_activity_at),
  ]);
  const [head = "", ...texts] = inColumns([HEADER, ...cells], columns < NARROW ? NARROW_LIMITS : LIMITS);
  return [
    line(`  ${head}  DIRECTORY`, "dim"),
    ...window.map((session, index): Line => {
      const isSelected = from + index === at;
      const style = isSelected ? "bold" : STYLES[session.status];
      const mark: Span = { text: isSelected ? "▸ " : "  ", style: isSelected ? "cyan" : undefined };
      const place = session.working_dir ?? "(started by hand)";
      return [mark, { text: texts[index] ?? "", style }, { text: "  " }, span(place, "dim")];
    }),
  ];
}

/** The rule above a transcript: its session and the session's state. */
export function sessionRule(session: SessionSummary, part: string, now: number, columns: number): Line {
  const { name, status, pending, cost_usd, last_activity_at } = session;
  const stands = [
    SESSION_WORDS[status],
    ...(pending > 0 ? [`${pending} pending`] : []),
    ...(cost_usd > 0 ? [costText(cost_usd)] : []),
    `active ${duration(now - last_activity_at)} ago`,
  ];
  return ruled([span(name, "bold"), { text: `  ${stands.join(", ")} `, style: "dim" }], part, columns);
}

function pendingText({ pending }: SessionSummary): string {
  return pending === 0 ? "–" : String(pending);
}
