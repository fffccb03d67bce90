import { summaryOf } from "../../../review/kinds.ts";
import { usePage, useUser } from "../../context.ts";
import { CallBody } from "../../shared/call/call-body.tsx";
import { clock, moment } from "../../shared/clock.ts";
import { DecidedByView } from "../../shared/elements/decided-by.tsx";
import { Fold } from "../../shared/elements/fold.tsx";
import { LongText } from "../../shared/elements/long-text.tsx";
import { StatusBadge } from "../../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../../shared/elements/visible.tsx";
import { Markdown } from "../../shared/markdown/markdown.tsx";
import { linkTo } from "../../shared/route.ts";
import { dollars } from "../status.tsx";
import { type Entry, type Passage, subagentText } from "./entries.ts";
import type { Transcript } from "./transcript.ts";

const SUMMARY_CHARS = 160;
const SHORT_RESULT_CHARS = 600;
const EPHEMERAL = "A prompt that is not kept: later turns don't know it.";

type Props = { transcript: Transcript; turnId: string };

/** One entry, or the folded work of a subagent. */
export function PassageView({ passage, ...rest }: Props & { passage: Passage }) {
  const target = useTarget(rest.turnId);
  if (passage.type !== "subagent") return <PlacedEntry entry={passage} {...rest} />;
  const calls = passage.entries.filter(({ type }) => type === "tool_use").length;
  const agent = passage.agent || passage.entries.map(agentOf).find((name) => name !== "") || "";
  return (
    <Fold
      class="entry subagent"
      summary={[<b>Subagent</b>, " ", visibleText(agent), ` · ${calls === 1 ? "1 call" : `${calls} calls`}`]}
      isOpen={target !== undefined && passage.entries.some((entry) => isAt(entry, target.seq))}
    >
      {() => passage.entries.map((entry) => <PlacedEntry key={entry.seq} entry={entry} {...rest} />)}
    </Fold>
  );
}

function agentOf(entry: Entry): string {
  return entry.type === "tool_use" ? (entry.agent ?? "") : "";
}

/** The place in this turn that the address names, if any. */
function useTarget(turnId: string) {
  const here = usePage().router.route.value;
  return here.page === "session" && here.turn?.id === turnId ? here.turn : undefined;
}

function isAt({ seq, last }: Entry, wanted: number): boolean {
  return seq <= wanted && wanted <= last;
}

/** An entry with its time, which links to it. */
function PlacedEntry({ entry, transcript, turnId }: Props & { entry: Entry }) {
  const target = useTarget(turnId);
  const isTarget = target !== undefined && isAt(entry, target.seq);
  const session = transcript.session.value?.id ?? "";
  const { seq, at } = entry;
  return (
    <div class={isTarget ? "placed target" : "placed"} data-seq={seq}>
      <EntryView entry={entry} transcript={transcript} turnId={turnId} isTarget={isTarget} />
      {at !== undefined && entry.type !== "start" && (
        <Time at={at} isShort to={linkTo.turn(session, { id: turnId, seq })} />
      )}
    </div>
  );
}

function EntryView({ entry, transcript, turnId, isTarget }: Props & { entry: Entry; isTarget: boolean }) {
  switch (entry.type) {
    case "start": {
      const prompt = transcript.promptOf(turnId).value;
      const turn = transcript.turns.value.find(({ turn_id }) => turn_id === turnId);
      const session = transcript.session.value?.id ?? "";
      return (
        <div class="entry prompt">
          {turn && <Time at={turn.started_at} to={linkTo.turn(session, { id: turnId, seq: 0 })} />}
          {turn?.ephemeral ? <p class="note">{EPHEMERAL}</p> : <Markdown text={prompt ?? "…"} label="Prompt" />}
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
        <Fold class="entry thinking" summary="Thinking" isOpen={isTarget}>
          {() => <Visible text={entry.text} />}
        </Fold>
      );
    case "tool_use":
      return <ToolUse name={entry.tool_name} input={entry.input} isOpen={isTarget} />;
    case "tool_result":
      return (
        <Fold
          class={entry.is_error || entry.unasked ? "entry result failed" : "entry result"}
          summary={entry.unasked ? "Ran although Plexus had not allowed it" : entry.is_error ? "Failed" : "Result"}
          isOpen={isTarget || entry.output.length < SHORT_RESULT_CHARS}
        >
          {() => <LongText text={entry.output} label="Result" />}
        </Fold>
      );
    case "approval_requested":
      return <Requested id={entry.approval_id} tool={entry.tool_name} />;
    case "approval_resolved":
      return (
        <div class="entry decided">
          <p>
            <StatusBadge status={entry.status} /> by <DecidedByView by={entry.resolved_by} />
            {entry.updated_input && ", edited: it runs with this instead"}
            {entry.response_message && (
              <>
                {" — "}
                <Visible text={entry.response_message} />
              </>
            )}
          </p>
          {entry.updated_input && <ToolUse name={entry.tool_name} input={entry.updated_input} isOpen={isTarget} />}
        </div>
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
        <Fold class="entry passthrough" summary={visibleText(entry.event_type)} isOpen={isTarget}>
          {() => <LongText text={JSON.stringify(entry.data, null, 2)} label={visibleText(entry.event_type)} />}
        </Fold>
      );
    }
  }
}

/** A request: while it is pending, this opens its card; afterwards it links to its decision. */
function Requested({ id, tool }: { id: string; tool: string }) {
  const { list, inbox } = useUser().requests;
  // Subscribes to changes of the list.
  list.value;
  const text = `requested approval for ${visibleText(tool)}`;
  return (
    <p class="entry asked">
      {inbox.isPending(id) ? (
        <button type="button" class="link" onClick={() => inbox.select(id)}>
          {text}
        </button>
      ) : (
        <a href={linkTo.decision(id)}>{text}</a>
      )}
    </p>
  );
}

type TimeProps = { at: number; to: string; isShort?: boolean };

function Time({ at, to, isShort = false }: TimeProps) {
  return (
    <a class="at" href={to} title={`${moment(at)}: the address of this`}>
      <time dateTime={new Date(at * 1000).toISOString()}>{isShort ? clock(at) : moment(at)}</time>
    </a>
  );
}

type ToolUseProps = { name: string; input: Record<string, unknown>; isOpen: boolean };

function ToolUse({ name, input, isOpen }: ToolUseProps) {
  const call = { tool_name: name, input };
  const summary = visibleText(summaryOf(call).slice(0, SUMMARY_CHARS)).replaceAll("\n", " ⏎ ");
  return (
    <Fold class="entry use" summary={[<b>{visibleText(name)}</b>, " ", <code>{summary}</code>]} isOpen={isOpen}>
      {() => <CallBody approval={call} context={undefined} />}
    </Fold>
  );
}
