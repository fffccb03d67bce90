import { summaryOf } from "../../review/kinds.ts";
import { useUser } from "../context.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { moment } from "../shared/clock.ts";
import { DecidedByView } from "../shared/elements/decided-by.tsx";
import { Fold } from "../shared/elements/fold.tsx";
import { LongText } from "../shared/elements/long-text.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { Markdown } from "../shared/markdown/markdown.tsx";
import { type Entry, type Passage, subagentText } from "./entries.ts";
import { dollars } from "./status.tsx";
import type { Transcript } from "./transcript.ts";

const SUMMARY_CHARS = 160;
const SHORT_RESULT_CHARS = 600;

type Props = { transcript: Transcript; turnId: string };

/** One thing that happened, in its place, or what a subagent did, folded. */
export function PassageView({ passage, ...rest }: Props & { passage: Passage }) {
  if (passage.type !== "subagent") return <EntryView entry={passage} {...rest} />;
  const calls = passage.entries.filter(({ type }) => type === "tool_use").length;
  const agent = passage.agent || passage.entries.map(agentOf).find((name) => name !== "") || "";
  return (
    <Fold
      class="entry subagent"
      summary={[<b>Subagent</b>, " ", visibleText(agent), ` · ${calls === 1 ? "1 call" : `${calls} calls`}`]}
    >
      {() => passage.entries.map((entry, at) => <EntryView key={at} entry={entry} {...rest} />)}
    </Fold>
  );
}

function agentOf(entry: Entry): string {
  return entry.type === "tool_use" ? (entry.agent ?? "") : "";
}

function EntryView({ entry, transcript, turnId }: Props & { entry: Entry }) {
  switch (entry.type) {
    case "start": {
      const prompt = transcript.prompts.value.get(entry.user_position ?? "");
      const started = transcript.turns.value.find(({ turn_id }) => turn_id === turnId)?.started_at;
      return prompt === undefined ? null : (
        <div class="entry prompt">
          {started !== undefined && <Time at={started} />}
          <Markdown text={prompt} label="Prompt" />
        </div>
      );
    }
    case "text":
      return (
        <div class="entry said">
          <Markdown text={entry.text} label="Message" />
        </div>
      );
    case "thinking":
      return (
        <Fold class="entry thinking" summary="Thinking">
          {() => <Visible text={entry.text} />}
        </Fold>
      );
    case "tool_use":
      return <ToolUse name={entry.tool_name} input={entry.input} />;
    case "tool_result":
      return (
        <Fold
          class={entry.is_error || entry.unasked ? "entry result failed" : "entry result"}
          summary={entry.unasked ? "Ran although Plexus had not allowed it" : entry.is_error ? "Failed" : "Result"}
          isOpen={entry.output.length < SHORT_RESULT_CHARS}
        >
          {() => <LongText text={entry.output} label="Result" />}
        </Fold>
      );
    case "approval_requested":
      return <Requested id={entry.approval_id} tool={entry.tool_name} />;
    case "approval_resolved":
      return (
        <>
          <p class="entry decided">
            <StatusBadge status={entry.status} /> by <DecidedByView by={entry.resolved_by} />
            {entry.updated_input && ", edited: it runs with this instead"}
            {entry.response_message && (
              <>
                {" — "}
                <Visible text={entry.response_message} />
              </>
            )}
          </p>
          {entry.updated_input && <ToolUse name={entry.tool_name} input={entry.updated_input} />}
        </>
      );
    case "complete":
      return (
        <p class="entry ended">
          done · {dollars(entry.usage.cost_usd)} · {entry.usage.input_tokens.toLocaleString()} tokens in,{" "}
          {entry.usage.output_tokens.toLocaleString()} out
        </p>
      );
    case "error":
      return (
        <p class="entry ended failed">
          <Visible text={entry.message} />
        </p>
      );
    case "passthrough": {
      const words = subagentText(entry);
      if (words !== undefined)
        return (
          <div class="entry said">
            <Markdown text={words} label="Message of the subagent" />
          </div>
        );
      return (
        <Fold class="entry passthrough" summary={visibleText(entry.event_type)}>
          {() => <LongText text={JSON.stringify(entry.data, null, 2)} label={visibleText(entry.event_type)} />}
        </Fold>
      );
    }
  }
}

/** While it is pending, its card can be opened from here. */
function Requested({ id, tool }: { id: string; tool: string }) {
  const { list, inbox } = useUser().requests;
  // Looked at again whenever the list has changed.
  list.value;
  const text = `requested approval for ${visibleText(tool)}`;
  return (
    <p class="entry asked">
      {inbox.isPending(id) ? (
        <button type="button" class="link" onClick={() => inbox.select(id)}>
          {text}
        </button>
      ) : (
        text
      )}
      <Time at={timeOfId(id)} />
    </p>
  );
}

function Time({ at }: { at: number }) {
  return (
    <time class="at" dateTime={new Date(at * 1000).toISOString()}>
      {moment(at)}
    </time>
  );
}

/** Ids begin with the time at which they were made, in milliseconds. */
function timeOfId(id: string): number {
  return Math.floor(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16) / 1000);
}

function ToolUse({ name, input }: { name: string; input: Record<string, unknown> }) {
  const call = { tool_name: name, input };
  const summary = visibleText(summaryOf(call).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  return (
    <Fold class="entry use" summary={[<b>{visibleText(name)}</b>, " ", <code>{summary}</code>]}>
      {() => <CallBody approval={call} context={undefined} />}
    </Fold>
  );
}
