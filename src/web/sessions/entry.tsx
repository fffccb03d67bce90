import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { summaryOf } from "../../review/kinds.ts";
import { useUser } from "../context.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { LongText } from "../shared/elements/long-text.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import type { Entry } from "./entries.ts";
import { dollars } from "./status.tsx";

const SUMMARY_CHARS = 160;
const SHORT_RESULT_CHARS = 600;

/** One thing that happened, in its place. */
export function EntryView({ entry, prompts }: { entry: Entry; prompts: ReadonlyMap<string, string> }) {
  switch (entry.type) {
    case "start": {
      const prompt = prompts.get(entry.user_position ?? "");
      return prompt === undefined ? null : (
        <div class="entry prompt">
          <LongText text={prompt} label="Prompt" />
        </div>
      );
    }
    case "text":
      return (
        <div class="entry said">
          <Visible text={entry.text} />
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
        <p class="entry decided">
          <StatusBadge status={entry.status} /> by <b>{entry.resolved_by}</b>
          {entry.response_message && (
            <>
              {" — "}
              <Visible text={entry.response_message} />
            </>
          )}
        </p>
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
    case "passthrough":
      return (
        <Fold class="entry passthrough" summary={visibleText(entry.event_type)}>
          {() => <LongText text={JSON.stringify(entry.data, null, 2)} label={visibleText(entry.event_type)} />}
        </Fold>
      );
  }
}

/** While it is pending it leads to its card. */
function Requested({ id, tool }: { id: string; tool: string }) {
  const { list, inbox, openCard } = useUser().requests;
  // Looked at again whenever the list has changed.
  list.value;
  const text = `requested approval for ${visibleText(tool)}`;
  return (
    <p class="entry asked">
      {inbox.isPending(id) ? (
        <a href={linkTo.inbox} onClick={() => openCard(id)}>
          {text}
        </a>
      ) : (
        text
      )}
    </p>
  );
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

type FoldProps = { class: string; summary: ComponentChildren; isOpen?: boolean; children: () => ComponentChildren };

/** Draws what is folded away only once it is unfolded. */
function Fold({ class: name, summary, isOpen = false, children }: FoldProps) {
  const wasOpened = useSignal(isOpen);
  return (
    <details class={name} open={isOpen} onToggle={() => (wasOpened.value = true)}>
      <summary>{summary}</summary>
      {wasOpened.value && children()}
    </details>
  );
}
