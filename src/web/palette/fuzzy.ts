/**
 * How well a text matches the typed letters, in their order and best at the starts of words; `undefined` if a letter is
 * missing.
 */
export function fuzzyScore(typed: string, text: string): number | undefined {
  const [wanted, given] = [typed.toLowerCase(), text.toLowerCase()];
  if (wanted === "") return 0;
  const at = given.indexOf(wanted);
  if (at >= 0) return 1_000 - at - given.length / 100;
  let [score, place] = [0, -1];
  for (const letter of wanted.replaceAll(/\s+/g, "")) {
    const next = given.indexOf(letter, place + 1);
    if (next < 0) return undefined;
    if (next === place + 1) score += 5;
    if (next === 0 || /[\s/._-]/.test(given[next - 1] ?? "")) score += 10;
    place = next;
  }
  return score - given.length / 100;
}

/** The best matches first, up to the limit. */
export function bestMatches<T extends { text: string }>(typed: string, choices: T[], limit: number): T[] {
  return choices
    .flatMap((choice) => {
      const score = fuzzyScore(typed, choice.text);
      return score === undefined ? [] : [{ choice, score }];
    })
    .toSorted((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ choice }) => choice);
}
