import type { Pattern } from "./pattern.ts";

/** A pattern of one kind, with its rule's place in the given order. */
type Placed<Kind> = Extract<Pattern, { kind: Kind }> & { order: number };

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
