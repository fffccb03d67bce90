import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { whyNotRemembered } from "../../client/deciding/remember.ts";
import { type InboxItem, isOpen, type RequestEnd } from "../../client/inbox.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import { duration } from "../../contract/text/duration.ts";
import { answered, choose, write } from "../../review/choices.ts";
import { realPathsOf } from "../../review/real-paths.ts";
import { usePage, useUser } from "../context.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { type Answering, QUESTIONS_FORM } from "../shared/call/questions.tsx";
import { DecidedByView } from "../shared/elements/decided-by.tsx";
import { Fold } from "../shared/elements/fold.tsx";
import { Icon } from "../shared/elements/icons.tsx";
import { Dangers, RealPaths, WorkingDir } from "../shared/elements/judged.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { Markdown } from "../shared/markdown/markdown.tsx";
import { linkTo } from "../shared/route.ts";
import type { User } from "../user.ts";
import { OUTSIDE_GRANT } from "./deciding.ts";
import { HeldActions } from "./held/held-toasts.tsx";
import type { OpenQuestion } from "./requests.ts";

type Props = {
  item: InboxItem;
  /** Set where the card replaces a list. */
  onBack?: () => void;
  /** Content for the card's head, beside the request. */
  children?: ComponentChildren;
};

/** One request with everything that matters for the decision, and the buttons to decide it. */
export function RequestCard({ item, onBack, children }: Props) {
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
        {onBack && (
          <button type="button" class="icon-button back" aria-label="Back to the list" onClick={onBack}>
            <Icon name="back" />
          </button>
        )}
        <h2>{visibleText(approval.tool_name)}</h2>
        <a class="who" href={linkTo.session(approval.session_id)}>
          {approval.session_name}
        </a>
        {children}
        {isPending && <TimeLeft created={approval.created_at} expires={approval.expires_at} />}
      </header>
      {item.outcome && <Ending outcome={item.outcome} />}
      <div class="card-body">
        {known && isPending && <Dangers reasons={known.dangers.map(({ message }) => message)} />}
        <LeadUp approval={approval} task={known?.context?.task} />
        <RealPaths paths={realPathsOf(approval, known?.context)} />
        <CallBody
          key={`${id}-${known ? "whole" : "listed"}`}
          approval={approval}
          context={known?.context}
          answering={open && answeringOf(open, user)}
        />
        <WorkingDir path={known?.context?.working_dir ?? null} />
        {isPending && known && <AboutRules approval={known.approval} />}
      </div>
      {item.isHeld && <HeldActions id={id} />}
      {isOpen(item) && (open ? <QuestionActions question={open} /> : <Actions known={known?.approval} />)}
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

/** The child's task, the subagent that made the call if there is one, and the words before it. */
function LeadUp({ approval: { agent, said }, task }: { approval: Approval; task: string | undefined }) {
  return (
    <>
      {task !== undefined && (
        <Fold class="task" summary={<TaskSummary task={task} />}>
          {() => <Markdown text={task} label="Task" />}
        </Fold>
      )}
      {agent !== undefined && (
        <p class="note">
          subagent: <Visible text={agent} />
        </p>
      )}
      {said !== undefined && (
        <blockquote class="said" aria-label="Said before">
          <Markdown text={said} label="Said before" />
        </blockquote>
      )}
    </>
  );
}

/** The first line of the task; the rest unfolds. */
function TaskSummary({ task }: { task: string }) {
  return (
    <>
      <b>Task</b> <Visible text={task.trim().split("\n", 1)[0] ?? ""} />
    </>
  );
}

/** Why a rule that seems to allow the call does not, and why no rule could. */
function AboutRules({ approval }: { approval: Approval }) {
  const { why_asked } = approval;
  const noRule = whyNotRemembered(approval);
  return (
    <>
      {why_asked !== undefined && (
        <p class="note why-asked">
          It asks: <Visible text={why_asked} />
        </p>
      )}
      {noRule !== undefined && (
        <p class="note">
          It can't be remembered: <Visible text={noRule} />
        </p>
      )}
    </>
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
        <DecidedByView by={outcome.by} />, {duration(now.value - outcome.at)} ago
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

/** Why the button needs a second press. */
export function ArmedNote() {
  const waiting = useUser().deciding.armed.value;
  if (!waiting) return null;
  return (
    <p class="armed" role="alert">
      Press again to allow: it <Visible text={waiting.reasons.join("; ")} />
    </p>
  );
}

/** A question can be answered, or allowed without answers on purpose. A plain allow could lose answers. */
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
    </footer>
  );
}

function Actions({ known = {} }: { known?: Pick<Approval, "escalates" | "no_rule"> | undefined }) {
  const { escalates = false, no_rule } = known;
  const { requests, deciding } = useUser();
  const { armed, isDeciding, dialog, allow, openRemember } = deciding;
  const many = requests.checked.value.length;
  const of = many > 0 ? ` ${many} selected` : "";
  const waiting = armed.value;
  const isOutside = escalates && many === 0;
  return (
    <footer class="actions">
      <ArmedNote />
      {isOutside && (
        <p id="outside-grant" class="hint outside-grant">
          <Icon name="warning" /> {OUTSIDE_GRANT}
        </p>
      )}
      <button
        type="button"
        class={waiting ? "button danger" : "button primary"}
        disabled={isDeciding.value || isOutside}
        aria-describedby={isOutside ? "outside-grant" : undefined}
        onClick={() => void allow()}
      >
        {waiting ? "Allow anyway" : `Allow${of}`} <kbd>a</kbd>
      </button>
      {many === 0 && no_rule === undefined && (
        <button
          type="button"
          class="button"
          disabled={isDeciding.value || isOutside}
          onClick={() => void openRemember()}
        >
          Allow and remember… <kbd>A</kbd>
        </button>
      )}
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
