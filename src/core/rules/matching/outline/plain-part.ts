/**
 * The longest part of a pattern's names that has no wildcard, and that is written in JSON as it is: the text of an outline
 * has it, or the pattern matches none of its paths.
 */
export function plainPart(names: readonly string[], isUseful: (part: string) => boolean = () => true) {
  const parts = names.flatMap((name) => name.split(/[^A-Za-z0-9._-]+/));
  const [longest = ""] = parts.filter(isUseful).toSorted((a, b) => b.length - a.length);
  return longest === "" ? undefined : longest;
}
