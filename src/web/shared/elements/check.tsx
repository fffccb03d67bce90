type Props = { label: string; value: { value: boolean } };

/** A checkbox with a label, bound to a signal. */
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
