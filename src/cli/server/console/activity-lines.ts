import { type App, SlowReader } from "../../../app.ts";
import { shortId } from "../../../client/words/short-id.ts";
import type { ChangeEvent } from "../../../contract/change.ts";
import { APPROVAL_OUTCOMES } from "../../terminal/event-text.ts";
import { moment } from "../../terminal/moment.ts";
import { printable } from "../../terminal/printable.ts";
import { requestText } from "../../terminal/request-text.ts";
import { shortened } from "../../terminal/table.ts";
import { styled, type Terminal } from "../../terminal/terminal.ts";

/** Prints a line for each request and each decision on the server's terminal, until the signal fires. */
export async function showActivity(
  { eventFeed }: Pick<App, "eventFeed">,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  let after: number | undefined;
  while (!signal.aborted) {
    try {
      for await (const { id, event } of eventFeed.follow({ kind: "operator" }, after, signal)) {
        after = id;
        const line = activityLine(event, terminal);
        if (line !== undefined) terminal.out(`${line}\n`);
      }
    } catch (cause) {
      // Events came faster than they could be printed: continue from the record.
      if (!(cause instanceof SlowReader)) throw cause;
    }
  }
}

/** One row of the screen. Text from a child can't break out of it. */
export function activityLine(event: ChangeEvent, terminal: Terminal): string | undefined {
  switch (event.type) {
    case "approval_requested": {
      const { approval_id, session_name, tool_name, tool_input: input, created_at } = event;
      const text = `${shortId(approval_id)} ${session_name}: ${requestText({ tool_name, input })}`;
      return row("yellow", created_at, `? ${text}`, terminal);
    }
    case "approval_resolved": {
      const { mark, style, words } = APPROVAL_OUTCOMES[event.status];
      const { approval_id, session_name, tool_name, response_message } = event;
      const reason = response_message ? `: ${response_message}` : "";
      const text = `${shortId(approval_id)} ${session_name}: ${tool_name} ${words(event.resolved_by)}${reason}`;
      return row(style, event.resolved_at, `${mark} ${text}`, terminal);
    }
    case "unasked_call": {
      const text = `${event.session_name} ran ${event.tool_name} although Plexus had not allowed it.`;
      return row("red", event.at, `! ${text}`, terminal);
    }
    default:
      return undefined;
  }
}

function row(style: Parameters<typeof styled>[0], at: number, text: string, terminal: Terminal): string {
  return styled(style, shortened(`${moment(at, terminal)} ${printable(text)}`, terminal.columns), terminal);
}
