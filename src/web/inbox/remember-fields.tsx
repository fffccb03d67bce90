import { useEffect } from "preact/hooks";
import { NO_SUGGESTION, type Remembering } from "../../client/deciding/remember.ts";
import { MAX_MATCH_CHARS, type Remember } from "../../contract/rules/rule.ts";
import { useUser } from "../context.ts";
import { MatchField } from "../rules/match-field.tsx";
import { TrialView } from "../rules/trial-view.tsx";

type Props = {
  rule: Remembering;
  /** Why the server refused the rule. */
  refusal: string;
  onChange: () => void;
};

/** The fields of a rule in progress: its pattern, its scope, and what it would have decided in the past. */
export function RememberFields({ rule, refusal, onChange }: Props) {
  const { sessions, caller, deciding } = useUser();
  const { setMatch, setScope } = deciding.remembering;
  const { approval, decision, match, scope, trial } = rule;
  useEffect(sessions.watch, []);
  const owner = sessions.sessions.value.find(({ id }) => id === approval.session_id)?.owner;
  const scopes: Record<Remember["scope"], string> = {
    session: `this session: ${approval.session_name}`,
    always: `every session of ${owner === caller.name ? `yours (${owner})` : (owner ?? "its creator")}`,
  };
  return (
    <>
      <MatchField
        label={decision === "allow" ? "Allow from now on" : "Deny from now on"}
        value={match}
        problem={refusal || (trial.kind === "refused" ? trial.reason : "")}
        maxLength={MAX_MATCH_CHARS}
        hint={approval.suggested_rule === undefined ? noSuggestion(decision) : undefined}
        onInput={(text) => {
          setMatch(text);
          onChange();
        }}
      />
      <fieldset class="scopes">
        <legend>In</legend>
        {(["session", "always"] as const).map((one) => (
          <label key={one} class="check">
            <input
              type="radio"
              name="scope"
              checked={scope === one}
              onChange={() => {
                setScope(one);
                onChange();
              }}
            />
            {scopes[one]}
          </label>
        ))}
      </fieldset>
      <TrialView state={trial} />
    </>
  );
}

function noSuggestion(decision: Remembering["decision"]): string {
  return decision === "allow"
    ? `${NO_SUGGESTION} You may write one yourself.`
    : "No rule is suggested for this call. You may write one, such as Bash(rm *).";
}
