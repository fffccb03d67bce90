import { useId } from "preact/hooks";

type Props = {
  label: string;
  value: string;
  /** What the server says against it. */
  problem: string;
  maxLength: number;
  hint?: string | undefined;
  onInput: (text: string) => void;
};

/** The pattern of a rule. */
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
