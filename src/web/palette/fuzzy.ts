/** How well a text matches what was typed: its letters in their order, best at the beginnings of words; `undefined` where they are not all there. */
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

/** Those that match, the best first, and as many as fit. */
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
