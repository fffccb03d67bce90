import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Rule, RuleDecision, ShadowRecord } from "../../contract/rules/rule.ts";
import { duration, shortDuration } from "../../contract/text/duration.ts";
import { usePage, useUser } from "../context.ts";
import { moment } from "../shared/clock.ts";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";
import { counted } from "./counted.ts";
import { DecisionBadge } from "./decision-badge.tsx";

const DONE: Record<RuleDecision, string> = { allow: "allowed", deny: "denied", ask: "asked about" };

type Props = { rule: Rule; isLinked: boolean; onEdit?: () => void; onRemove?: () => void };

/** A rule: what it decides, where it applies, who made it, and how often it was used. */
export function RuleRow({ rule, isLinked, onEdit, onRemove }: Props) {
  const { mayChange } = useUser().rules;
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isLinked) element.current?.scrollIntoView({ block: "center" });
  }, [isLinked]);
  const name = visibleText(rule.match);
  return (
    <li ref={element} class={isLinked ? "rule linked" : "rule"} aria-current={isLinked ? "true" : undefined}>
      <div class="rule-head">
        <DecisionBadge decision={rule.decision} />
        <code class="match-text">
          <Visible text={rule.match} />
        </code>
        {rule.mode === "shadow" && <span class="badge">shadow</span>}
        {rule.off && <span class="badge">off</span>}
        {mayChange(rule) && (
          <span class="rule-actions">
            <button type="button" class="button small" aria-label={`Edit ${name}`} onClick={onEdit}>
              Edit
            </button>
            <button type="button" class="button small" aria-label={`Remove ${name}`} onClick={onRemove}>
              Remove
            </button>
          </span>
        )}
      </div>
      {rule.reason && (
        <p class="rule-reason">
          “<Visible text={rule.reason} />”{rule.interrupt && ", and the turn ends"}
        </p>
      )}
      {!rule.reason && rule.interrupt && <p class="rule-reason">It also ends the turn.</p>}
      {rule.shadow && <Shadow rule={rule} record={rule.shadow} />}
      <Facts rule={rule} />
    </li>
  );
}

function Facts({ rule }: { rule: Rule }) {
  const { now } = usePage();
  const { hits, last_hit_at, expires_at, uses_left, created_by, created_at, from_approval_id, tier } = rule;
  return (
    <ul class="rule-facts">
      {tier !== "builtin" && (
        <Fact>
          <Where rule={rule} />
        </Fact>
      )}
      <Fact>
        {hits === 0 ? "never used" : `${DONE[rule.decision]} ${counted(hits, "call")}`}
        {last_hit_at !== undefined && `, last ${shortDuration(now.value - last_hit_at)} ago`}
      </Fact>
      {uses_left !== undefined && <Fact>{counted(uses_left, "use")} left</Fact>}
      {expires_at !== undefined && <Fact>expires in {duration(expires_at - now.value)}</Fact>}
      {tier === "file" && <Fact>from the rules file</Fact>}
      {tier !== "file" && created_by !== undefined && (
        <Fact>
          by {created_by}
          {created_at !== undefined && `, ${moment(created_at)}`}
          {from_approval_id !== undefined && (
            <>
              , from <a href={linkTo.decision(from_approval_id)}>this request</a>
            </>
          )}
        </Fact>
      )}
    </ul>
  );
}

function Fact({ children }: { children: ComponentChildren }) {
  return <li>{children}</li>;
}

/** The sessions to which the rule applies. */
export function Where({ rule: { session_id, owner } }: { rule: Pick<Rule, "session_id" | "owner"> }) {
  const { sessions } = useUser();
  if (session_id !== undefined) {
    const name = sessions.sessions.value.find(({ id }) => id === session_id)?.name;
    return (
      <>
        in <a href={linkTo.session(session_id)}>{name ?? "one session"}</a>
      </>
    );
  }
  if (owner === undefined) return <>everybody's sessions</>;
  return <>all sessions of {owner}</>;
}

/** What a shadow rule would have decided, with a button to make it live. */
function Shadow({ rule, record }: { rule: Rule; record: ShadowRecord }) {
  const { change, mayChange } = useUser().rules;
  const { announcer } = usePage();
  const isBusy = useSignal(false);
  const goLive = async () => {
    isBusy.value = true;
    await change(rule.id, { mode: "live" }).then(
      () => announcer.announce(`${visibleText(rule.match)} is live`),
      (cause) => announcer.complain(`The rule was not changed: ${reasonOf(cause)}`),
    );
    isBusy.value = false;
  };
  return (
    <p class={record.contradictions > 0 ? "shadow-record otherwise" : "shadow-record"}>
      <span>{shadowWords(record)}</span>
      {mayChange(rule) && (
        <button
          type="button"
          class={record.ready ? "button small primary" : "button small"}
          aria-label={`Go live: ${visibleText(rule.match)}`}
          disabled={isBusy}
          onClick={() => void goLive()}
        >
          Go live
        </button>
      )}
    </p>
  );
}

function shadowWords({ would_decide, contradictions, ready }: ShadowRecord): string {
  if (would_decide === 0) return "Only watches; nothing has matched so far.";
  const would = `Only watches: would have decided ${would_decide.toLocaleString()}`;
  if (contradictions > 0) return `${would}, ${contradictions.toLocaleString()} otherwise than somebody did.`;
  return `${would}, none otherwise${ready ? ": ready to go live." : "."}`;
}
