import { useEffect } from "preact/hooks";
import type { InboxItem, RequestEnd } from "../../client/inbox.ts";
import { duration } from "../../contract/duration.ts";
import { answered, choose, write } from "../../review/choices.ts";
import { leadsTo } from "../../review/real-path.ts";
import { usePage, useUser } from "../context.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { type Answering, QUESTIONS_FORM } from "../shared/call/questions.tsx";
import { Icon } from "../shared/elements/icons.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { linkTo } from "../shared/route.ts";
import type { User } from "../user.ts";
import type { OpenQuestion } from "./requests.ts";

/** One request with all that matters for the decision, and the decision. */
export function RequestCard({ item, onBack }: { item: InboxItem; onBack: () => void }) {
  const user = useUser();
  const { reviews, review, question } = user.requests;
  const { id } = item.approval;
  const isPending = item.outcome === undefined;
  useEffect(() => {
    if (isPending) void reviews.review(item.approval);
  }, [id]);
  const known = review.value?.approval.id === id ? review.value : undefined;
  const approval = known?.approval ?? item.approval;
  const open = question.value;
  return (
    <article class="card" aria-label={`${visibleText(approval.tool_name)} of ${approval.session_name}`}>
      <header class="card-head">
        <button type="button" class="icon-button back" aria-label="Back to the list" onClick={onBack}>
          <Icon name="back" />
        </button>
        <h2>{visibleText(approval.tool_name)}</h2>
        <a class="who" href={linkTo.session(approval.session_id)}>
          {approval.session_name}
        </a>
        {isPending && <TimeLeft created={approval.created_at} expires={approval.expires_at} />}
      </header>
      {item.outcome && <Ending outcome={item.outcome} />}
      <div class="card-body">
        {known && known.dangers.length > 0 && isPending && (
          <ul class="dangers" aria-label="Dangers">
            {known.dangers.map(({ message }) => (
              <li>
                <Icon name="warning" /> <Visible text={message} />
              </li>
            ))}
          </ul>
        )}
        <RealPath path={leadsTo(approval, known?.context)} />
        <CallBody
          key={`${id}-${known ? "whole" : "listed"}`}
          approval={approval}
          context={known?.context}
          answering={open && answeringOf(open, user)}
        />
        <WorkingDir path={known?.context?.working_dir ?? null} />
      </div>
      {isPending && (open ? <QuestionActions question={open} /> : <Actions />)}
    </article>
  );
}

function answeringOf({ approval, questions, choices }: OpenQuestion, { requests, deciding }: User): Answering {
  const { answers } = requests;
  return {
    choices,
    choose: (at, option) => answers.keep(approval.id, choose(questions, choices, at, option)),
    write: (at, text) => answers.keep(approval.id, write(choices, at, text)),
    send: () => void deciding.answer(),
  };
}

function RealPath({ path }: { path: string | undefined }) {
  if (path === undefined) return null;
  return (
    <p class="real-path">
      real path:{" "}
      <code>
        <Visible text={path} />
      </code>
    </p>
  );
}

function WorkingDir({ path }: { path: string | null }) {
  if (path === null) return null;
  return (
    <p class="working-dir">
      in{" "}
      <code>
        <Visible text={path} />
      </code>
    </p>
  );
}

function TimeLeft({ created, expires }: { created: number; expires: number }) {
  const { now } = usePage();
  const left = expires - now.value;
  return (
    <span class={left < 30 ? "time-left urgent" : "time-left"}>
      requested {duration(now.value - created)} ago, {left > 0 ? `${duration(left)} left` : "time is up"}
    </span>
  );
}

function Ending({ outcome }: { outcome: RequestEnd }) {
  const { now } = usePage();
  return (
    <div class="ending" role="status">
      <StatusBadge status={outcome.status} />
      <span>
        {outcome.lost ? "Somebody was faster: " : ""}
        <b>{outcome.by}</b>, {duration(now.value - outcome.at)} ago
        {outcome.message && (
          <>
            {" — "}
            <Visible text={outcome.message} />
          </>
        )}
      </span>
    </div>
  );
}

/** Why the button must be pressed again. */
export function ArmedNote() {
  const waiting = useUser().deciding.armed.value;
  if (!waiting) return null;
  return (
    <p class="armed" role="alert">
      Press again to allow: it <Visible text={waiting.reasons.join("; ")} />
    </p>
  );
}

/** A question is answered, or let go without an answer on purpose: there is no plain allow that would lose one. */
function QuestionActions({ question }: { question: OpenQuestion }) {
  const { armed, hint, isDeciding, dialog, allow } = useUser().deciding;
  const { approval, questions, choices } = question;
  const isAnswered = answered(approval.input, questions, choices) !== undefined;
  const waiting = armed.value;
  return (
    <footer class="actions">
      <ArmedNote />
      {hint.value !== "" && <p class="hint">{hint}</p>}
      <button type="submit" form={QUESTIONS_FORM} class="button primary" disabled={isDeciding.value || !isAnswered}>
        Answer <kbd>↵</kbd>
      </button>
      <button
        type="button"
        class={waiting ? "button danger" : "button"}
        disabled={isDeciding}
        onClick={() => void allow()}
      >
        {waiting ? "Skip anyway" : "Skip"}
      </button>
      <button type="button" class="button" disabled={isDeciding} onClick={() => (dialog.value = "deny")}>
        Deny <kbd>d</kbd>
      </button>
      <button type="button" class="button" disabled={isDeciding} onClick={() => (dialog.value = "edit")}>
        Edit <kbd>e</kbd>
      </button>
    </footer>
  );
}

function Actions() {
  const { requests, deciding } = useUser();
  const { armed, isDeciding, dialog, allow } = deciding;
  const many = requests.checked.value.length;
  const of = many > 0 ? ` ${many} selected` : "";
  const waiting = armed.value;
  return (
    <footer class="actions">
      <ArmedNote />
      <button
        type="button"
        class={waiting ? "button danger" : "button primary"}
        disabled={isDeciding}
        onClick={() => void allow()}
      >
        {waiting ? "Allow anyway" : `Allow${of}`} <kbd>a</kbd>
      </button>
      <button type="button" class="button" disabled={isDeciding} onClick={() => (dialog.value = "deny")}>
        Deny{of} <kbd>d</kbd>
      </button>
      {many === 0 && (
        <button type="button" class="button" disabled={isDeciding} onClick={() => (dialog.value = "edit")}>
          Edit <kbd>e</kbd>
        </button>
      )}
    </footer>
  );
}
