import type { Pattern } from "./pattern.ts";

/** A pattern of one kind, with the place of its rule in the order given. */
type Placed<Kind> = Extract<Pattern, { kind: Kind }> & { order: number };

/** The patterns of one kind. */
export function placed<Kind extends Pattern["kind"]>(
  rules: readonly { pattern: Pattern }[],
  kind: Kind,
): Placed<Kind>[] {
  return rules.flatMap(({ pattern }, order) => (isKind(pattern, kind) ? [{ ...pattern, order }] : []));
}

function isKind<Kind extends Pattern["kind"]>(
  pattern: Pattern,
  kind: Kind,
): pattern is Extract<Pattern, { kind: Kind }> {
  return pattern.kind === kind;
}
