/** Who has decided a request, read from the name in its record. */
export type DecidedBy =
  | { kind: "rule"; id: string }
  | { kind: "builtin"; id: string; name: string }
  | { kind: "brake" }
  | { kind: "somebody"; name: string };

export function decidedBy(resolvedBy: string): DecidedBy {
  if (resolvedBy === "brake") return { kind: "brake" };
  const [, tier, name = ""] = /^(rule|builtin):(.+)$/.exec(resolvedBy) ?? [];
  if (tier === "rule") return { kind: "rule", id: name };
  if (tier === "builtin") return { kind: "builtin", id: resolvedBy, name };
  return { kind: "somebody", name: resolvedBy };
}

/** In words that follow "by". */
export function decidedByWords(by: DecidedBy): string {
  switch (by.kind) {
    case "rule":
      return "a rule";
    case "builtin":
      return `the built-in rule ${by.name}`;
    case "brake":
      return "the brake";
    case "somebody":
      return by.name;
  }
}

/** What the brake is. */
export const BRAKE_MEANING = "this very call had been denied three times in a row, so nobody was asked";
