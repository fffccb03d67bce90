type Props = { label: string; value: { value: boolean } };

/** A checkbox with its words, over a signal. */
export function Check({ label, value }: Props) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => (value.value = currentTarget.checked)}
      />
      {label}
    </label>
  );
}
