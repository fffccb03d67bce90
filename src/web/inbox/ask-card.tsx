import { useEffect } from "preact/hooks";
import { leadsTo } from "../../review/real-path.ts";
import { CardBody } from "../cards/card-body.tsx";
import { type Answering, QUESTIONS_FORM } from "../cards/questions.tsx";
import { now, span } from "../clock.ts";
import { Icon } from "../parts/icons.tsx";
import { StatusBadge } from "../parts/outcome.tsx";
import { linkTo } from "../route.ts";
import { Visible, visibleText } from "../text/visible.tsx";
import { chooseOption, isAnswered, type OpenQuestion, openQuestion, writeAnswer } from "./answering.ts";
import { type Ask, checked, type Outcome } from "./asks.ts";
import { allow, answer, armed, dialog, hint, isDeciding } from "./deciding.ts";
import { examine, examined } from "./examined.ts";

/** One ask with all that matters for the decision, and the decision. */
export function AskCard({ ask, onBack }: { ask: Ask; onBack: () => void }) {
  const { id } = ask.approval;
  useEffect(() => {
    if (ask.outcome === undefined) void examine(ask.approval);
  }, [id]);
  const known = examined.value.get(id);
  const approval = known?.approval ?? ask.approval;
  const isOpen = ask.outcome === undefined;
  const question = openQuestion();
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
        {isOpen && <TimeLeft created={approval.created_at} expires={approval.expires_at} />}
      </header>
      {ask.outcome && <Ending outcome={ask.outcome} />}
      <div class="card-body">
        {known && known.dangers.length > 0 && isOpen && (
          <ul class="dangers" aria-label="Look twice">
            {known.dangers.map(({ message }) => (
              <li>
                <Icon name="warning" /> <Visible text={message} />
              </li>
            ))}
          </ul>
        )}
        <RealPath path={leadsTo(approval, known?.context)} />
        <CardBody
          key={`${id}-${known ? "whole" : "listed"}`}
          approval={approval}
          context={known?.context}
          answering={question && answeringOf(question)}
        />
        <WorkingDir path={known?.context?.working_dir ?? null} />
      </div>
      {isOpen && (question ? <QuestionActions question={question} /> : <Actions />)}
    </article>
  );
}

function answeringOf(question: OpenQuestion): Answering {
  return {
    choices: question.choices,
    choose: (at, option) => chooseOption(question, option, at),
    write: (at, text) => writeAnswer(question, at, text),
    send: () => void answer(),
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
  const left = expires - now.value;
  return (
    <span class={left < 30 ? "time-left urgent" : "time-left"}>
      asked {span(now.value - created)} ago, {left > 0 ? `${span(left)} left` : "time is up"}
    </span>
  );
}

function Ending({ outcome }: { outcome: Outcome }) {
  return (
    <div class="ending" role="status">
      <StatusBadge status={outcome.status} />
      <span>
        {outcome.lost ? "Somebody was faster: " : ""}
        <b>{outcome.by}</b>, {span(now.value - outcome.at)} ago
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

function ArmedNote() {
  const waiting = armed.value;
  if (!waiting) return null;
  return (
    <p class="armed" role="alert">
      Press again to allow: it <Visible text={waiting.reasons.join("; ")} />
    </p>
  );
}

/** A question is answered, or let go without an answer on purpose: there is no plain allow that would lose one. */
function QuestionActions({ question }: { question: OpenQuestion }) {
  const waiting = armed.value;
  return (
    <footer class="actions">
      <ArmedNote />
      {hint.value !== "" && <p class="hint">{hint}</p>}
      <button
        type="submit"
        form={QUESTIONS_FORM}
        class="button primary"
        disabled={isDeciding.value || !isAnswered(question)}
      >
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
  const many = checked.value.length;
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
