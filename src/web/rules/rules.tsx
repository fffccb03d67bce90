import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Suggestion } from "../../contract/rules/history-test.ts";
import type { Rule, RuleDecision } from "../../contract/rules/rule.ts";
import { usePage, useUser } from "../context.ts";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import { counted } from "./counted.ts";
import { DecisionBadge } from "./decision-badge.tsx";
import { RemoveDialog } from "./remove-dialog.tsx";
import { RuleForm } from "./rule-form.tsx";
import { RuleRow } from "./rule-row.tsx";

/** How many rules of a group are drawn at first. */
const SHOWN = 100;
const STRICTEST_FIRST: RuleDecision[] = ["deny", "ask", "allow"];
const NAMES: Record<RuleDecision, string> = { deny: "Deny", ask: "Ask", allow: "Allow" };
const MEANING: Record<RuleDecision, string> = {
  deny: "these calls never run",
  ask: "these calls need approval, whatever else allows them",
  allow: "these calls run without asking",
};

/** The form or dialog that is open over the page. */
type Open =
  | { kind: "nothing" }
  | { kind: "form"; rule?: Rule; suggested?: Suggestion["rule"] }
  | { kind: "remove"; rule: Rule };

/** The page with the rules, strictest first, and suggestions for new ones. */
export function RulesPage() {
  const { rules: list, sessions } = useUser();
  const open = useSignal<Open>({ kind: "nothing" });
  const sought = useSignal("");
  useEffect(list.watch, []);
  useEffect(sessions.watch, []);
  const all = list.rules.value;
  const isSought = ({ match }: Rule) => match.toLowerCase().includes(sought.value.trim().toLowerCase());
  const own = all?.filter(({ tier }) => tier !== "builtin");
  const builtin = all?.filter(({ tier }) => tier === "builtin") ?? [];
  const close = () => {
    open.value = { kind: "nothing" };
  };
  return (
    <main class="page rules">
      <header class="page-head">
        <h1>Rules</h1>
        <input
          type="text"
          class="search"
          aria-label="Find a rule"
          placeholder="Find a rule"
          value={sought}
          onInput={({ currentTarget }) => (sought.value = currentTarget.value)}
        />
        <button type="button" class="button primary" onClick={() => (open.value = { kind: "form" })}>
          Add a rule
        </button>
      </header>
      <p class="note">
        Rules decide calls before anybody is asked. The strictest one that matches wins: deny, then ask, then allow.
      </p>
      <MissingRule />
      <Suggestions onAdd={(suggested) => (open.value = { kind: "form", suggested })} />
      {own?.length === 0 && (
        <p class="nothing">No rules yet: add one here, or choose “Allow and remember…” on a request.</p>
      )}
      {own && own.length > 0 && !own.some(isSought) && <p class="nothing">No rule has this in its match.</p>}
      {STRICTEST_FIRST.map((decision) => (
        <Group
          key={decision}
          decision={decision}
          rules={own?.filter((rule) => rule.decision === decision && isSought(rule)) ?? []}
          onEdit={(rule) => (open.value = { kind: "form", rule })}
          onRemove={(rule) => (open.value = { kind: "remove", rule })}
        />
      ))}
      {builtin.length > 0 && <BuiltinRules rules={builtin} />}
      {open.value.kind === "form" && (
        <RuleForm rule={open.value.rule} suggested={open.value.suggested} onClose={close} />
      )}
      {open.value.kind === "remove" && <RemoveDialog rule={open.value.rule} onClose={close} />}
    </main>
  );
}

/** A link may lead to a removed rule. */
function MissingRule() {
  const here = usePage().router.route.value;
  const rules = useUser().rules.rules.value;
  const id = here.page === "rules" ? here.id : undefined;
  if (id === undefined || !rules || rules.some((rule) => rule.id === id)) return null;
  return (
    <p class="missing-rule" role="status">
      The rule that you followed a link to does not exist any more: it was removed, has expired, or is used up.
    </p>
  );
}

function Suggestions({ onAdd }: { onAdd: (rule: Suggestion["rule"]) => void }) {
  const suggestions = useUser().rules.suggestions.value;
  if (suggestions.length === 0) return null;
  return (
    <section class="suggestions" aria-labelledby="suggestions">
      <h2 id="suggestions">These rules would have saved you most decisions</h2>
      <ul>
        {suggestions.map(({ rule, decided }) => (
          <li key={rule.match}>
            <DecisionBadge decision={rule.decision} />
            <code class="match-text">
              <Visible text={rule.match} />
            </code>
            <span class="note">{counted(decided, "decision")}, none otherwise</span>
            <button
              type="button"
              class="button small"
              aria-label={`Add ${visibleText(rule.match)}`}
              onClick={() => onAdd(rule)}
            >
              Add…
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

type GroupProps = {
  decision: RuleDecision;
  rules: Rule[];
  onEdit: (rule: Rule) => void;
  onRemove: (rule: Rule) => void;
};

function Group({ decision, rules, onEdit, onRemove }: GroupProps) {
  const here = usePage().router.route.value;
  const linked = here.page === "rules" ? here.id : undefined;
  const isAllShown = useSignal(false);
  if (rules.length === 0) return null;
  const isLinkedHidden = rules.findIndex(({ id }) => id === linked) >= SHOWN;
  const shown = isAllShown.value || isLinkedHidden ? rules : rules.slice(0, SHOWN);
  return (
    <section class="rule-group" aria-labelledby={`rules-${decision}`}>
      <h2 id={`rules-${decision}`}>
        {NAMES[decision]} <small>{MEANING[decision]}</small>
      </h2>
      <ul>
        {shown.map((rule) => (
          <RuleRow
            key={rule.id}
            rule={rule}
            isLinked={rule.id === linked}
            onEdit={() => onEdit(rule)}
            onRemove={() => onRemove(rule)}
          />
        ))}
      </ul>
      {shown.length < rules.length && (
        <button type="button" class="button" onClick={() => (isAllShown.value = true)}>
          Show {(rules.length - shown.length).toLocaleString()} more
        </button>
      )}
    </section>
  );
}

/** Built-in rules never change, so they are folded, unless the address links to one of them. */
function BuiltinRules({ rules }: { rules: Rule[] }) {
  const here = usePage().router.route.value;
  const linked = here.page === "rules" ? here.id : undefined;
  const hits = rules.reduce((sum, rule) => sum + rule.hits, 0);
  return (
    <details class="rule-group builtin" open={rules.some(({ id }) => id === linked)}>
      <summary>
        <h2>Built-in rules</h2>{" "}
        <small>
          {rules.length} rules{hits > 0 && `, ${counted(hits, "decision")}`}
        </small>
      </summary>
      <ul>
        {rules.map((rule) => (
          <RuleRow key={rule.id} rule={rule} isLinked={rule.id === linked} />
        ))}
      </ul>
    </details>
  );
}
