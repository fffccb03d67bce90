type ChoicesProps<T extends string> = {
  legend: string;
  name: string;
  chosen: T;
  words: Record<T, string>;
  onChoose: (one: T) => void;
};

/** A choice of one among several options. */
export function Choices<T extends string>({ legend, name, chosen, words, onChoose }: ChoicesProps<T>) {
  const choices = Object.keys(words) as T[];
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {choices.map((one) => (
        <label key={one} class="check">
          <input type="radio" name={name} checked={chosen === one} onChange={() => onChoose(one)} />
          {words[one]}
        </label>
      ))}
    </fieldset>
  );
}
