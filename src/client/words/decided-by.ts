/** The decider of a request, parsed from its record. */
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

/** Returns words that follow "by". */
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

/** Explains the automatic denial of repeated calls. */
export const BRAKE_MEANING = "this very call had been denied three times in a row, so nobody was asked";
