import { type Choices, NO_CHOICES } from "../../review/choices.ts";

const MAX_KEPT = 20;

export type Choosing = ReturnType<typeof createChoosing>;

/** Answers as the person has chosen them, for as long as they are not sent. */
export function createChoosing() {
  const kept = new Map<string, Choices>();
  let changes = 0;
  return {
    /** Another number whenever one of them has changed. */
    version: () => changes,
    of: (id: string): Choices => kept.get(id) ?? NO_CHOICES,
    keep(id: string, choices: Choices): void {
      const [oldest] = kept.keys();
      if (oldest !== undefined && kept.size >= MAX_KEPT && !kept.has(id)) kept.delete(oldest);
      kept.set(id, choices);
      changes++;
    },
    drop(id: string): void {
      if (kept.delete(id)) changes++;
    },
  };
}
