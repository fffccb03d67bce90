import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Suggestion } from "../../contract/rules/history-test.ts";
import { MAX_MATCH_CHARS, type Rule, type RuleDecision } from "../../contract/rules/rule.ts";
import { duration } from "../../contract/text/duration.ts";
import { MAX_MESSAGE_CHARS } from "../../contract/values.ts";
import { usePage, useUser } from "../context.ts";
import { Check } from "../shared/elements/check.tsx";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";
import { createDraft, type Draft, EXPIRIES, fieldOf, KEPT } from "./draft.ts";
import { MatchField } from "./match-field.tsx";
import { OPERATOR } from "./rule-list.ts";
import { Where } from "./rule-row.tsx";
import { createTrial } from "./trial.ts";
import { TrialView } from "./trial-view.tsx";

const CHOICES = ["allow", "ask", "deny"] as const;
const DECIDES: Record<RuleDecision, string> = {
  allow: "run without asking",
  ask: "always ask",
  deny: "never run",
};

type Props = { rule?: Rule | undefined; suggested?: Suggestion["rule"] | undefined; onClose: () => void };

/** Adds or changes a rule, after trying it on past decisions. */
export function RuleForm({ rule, suggested, onClose }: Props) {
  const { api } = usePage();
  const { add, change } = useUser().rules;
  const [draft] = useState(() => createDraft(rule, suggested));
  const [trial] = useState(() => createTrial({ api }));
  const refusal = useSignal("");
  const isBusy = useSignal(false);
  const { state } = trial;
  useEffect(() => {
    if (suggested) void trial.run(draft.tried());
    return trial.clear;
  }, []);
  const touched = () => {
    refusal.value = "";
    trial.clear();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      await (rule ? change(rule.id, draft.changed()) : add(draft.added()));
      onClose();
    } catch (cause) {
      refusal.value = reasonOf(cause);
    } finally {
      isBusy.value = false;
    }
  };
  const about = fieldOf(refusal.value);
  const tryRefusal = state.value.kind === "refused" ? state.value.reason : "";
  const isEmpty = draft.match.value.trim() === "";
  return (
    <Dialog title={rule ? "Edit the rule" : "Add a rule"} onClose={onClose}>
      <form onSubmit={submit} class="rule-form">
        <Decision draft={draft} onChange={touched} />
        <MatchField
          label="Calls that match"
          value={draft.match.value}
          problem={about === "match" ? refusal.value : tryRefusal}
          maxLength={MAX_MATCH_CHARS}
          onInput={(text) => {
            draft.match.value = text;
            touched();
          }}
        />
        <Scope draft={draft} rule={rule} onChange={touched} />
        {draft.decision.value === "deny" && <Denial draft={draft} />}
        <Limits draft={draft} rule={rule} refusal={refusal.value} />
        <section class="try" aria-label="Try it on what was decided before">
          <button
            type="button"
            class="button"
            disabled={isEmpty || state.value.kind === "trying"}
            onClick={() => void trial.run(draft.tried())}
          >
            Try
          </button>
          {state.value.kind === "none" ? (
            <p class="note">What would it have decided before?</p>
          ) : (
            <TrialView state={state.value} />
          )}
        </section>
        <p class="problem" role="alert">
          {about === "match" || about === "uses" ? "" : refusal}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button primary" disabled={isBusy.value || isEmpty}>
            {rule ? "Save" : "Add"}
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type PartProps = { draft: Draft; onChange: () => void };

function Decision({ draft, onChange }: PartProps) {
  return (
    <fieldset class="decisions">
      <legend>Decision</legend>
      {CHOICES.map((option) => (
        <label key={option} class={`decision-choice rule-${option}`}>
          <input
            type="radio"
            name="decision"
            checked={draft.decision.value === option}
            onChange={() => {
              draft.decision.value = option;
              onChange();
            }}
          />
          <span>
            <b>{option}</b> <small>{DECIDES[option]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The scope of the rule. An existing rule keeps its scope. */
function Scope({ draft, rule, onChange }: PartProps & { rule: Rule | undefined }) {
  const { sessions, caller } = useUser();
  if (rule)
    return (
      <p class="note">
        It holds <Where rule={rule} />.
      </p>
    );
  return (
    <>
      <label for="rule-session">In</label>
      <select
        id="rule-session"
        value={draft.session.value}
        onChange={({ currentTarget }) => {
          draft.session.value = currentTarget.value;
          onChange();
        }}
      >
        <option value="">{caller.name === OPERATOR ? "everybody's sessions" : `all sessions of ${caller.name}`}</option>
        {sessions.sessions.value.map(({ id, name }) => (
          <option key={id} value={id}>
            only {name}
          </option>
        ))}
      </select>
    </>
  );
}

function Denial({ draft }: { draft: Draft }) {
  return (
    <>
      <label for="rule-reason">Reason (shown to the agent): say what to do instead</label>
      <textarea
        id="rule-reason"
        rows={2}
        maxLength={MAX_MESSAGE_CHARS}
        value={draft.reason}
        onInput={({ currentTarget }) => (draft.reason.value = currentTarget.value)}
      />
      <Check label="Also end the agent's turn" value={draft.interrupt} />
    </>
  );
}

type LimitsProps = { draft: Draft; rule: Rule | undefined; refusal: string };

function Limits({ draft, rule, refusal }: LimitsProps) {
  const { now } = usePage();
  const problem = fieldOf(refusal) === "uses" ? refusal : "";
  return (
    <>
      <div class="limits">
        <div>
          <label for="rule-expires">Expires</label>
          <select
            id="rule-expires"
            value={draft.expires.value}
            onChange={({ currentTarget }) => (draft.expires.value = currentTarget.value)}
          >
            {rule?.expires_at !== undefined && (
              <option value={KEPT}>as it does: in {duration(rule.expires_at - now.peek())}</option>
            )}
            {EXPIRIES.map(([secs, words]) => (
              <option key={secs} value={secs}>
                {words}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="rule-uses">Uses (empty: as many as it gets)</label>
          <input
            id="rule-uses"
            type="text"
            inputMode="numeric"
            pattern="[1-9][0-9]*"
            title="A whole number from 1 on"
            autocomplete="off"
            aria-describedby="rule-uses-problem"
            value={draft.uses}
            onInput={({ currentTarget }) => (draft.uses.value = currentTarget.value)}
          />
          <p id="rule-uses-problem" class="problem inline" role="alert">
            {problem}
          </p>
        </div>
      </div>
      <Check label="Shadow: decide nothing, only record what it would decide" value={draft.isShadow} />
    </>
  );
}
