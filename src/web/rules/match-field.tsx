import { useId } from "preact/hooks";

type Props = {
  label: string;
  value: string;
  /** Why the server refused the value. */
  problem: string;
  maxLength: number;
  hint?: string | undefined;
  onInput: (text: string) => void;
};

/** The field for a rule's pattern. */
export function MatchField({ label, value, problem, maxLength, hint, onInput }: Props) {
  const id = useId();
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        class="match"
        required
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        maxLength={maxLength}
        aria-invalid={problem !== ""}
        aria-describedby={`${id}-hint ${id}-problem`}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="note">
        {hint ?? "As in Claude Code: Bash(npm run *), Edit(./src/**), WebFetch(domain:docs.rs), mcp__github__get_*"}
      </p>
      <p id={`${id}-problem`} class="problem" role="alert">
        {problem}
      </p>
    </>
  );
}
