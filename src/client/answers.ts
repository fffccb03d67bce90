import { type Choices, NO_CHOICES } from "../review/choices.ts";
import { createListeners } from "./listeners.ts";

const MAX_KEPT = 100;

export type Answers = ReturnType<typeof createAnswers>;

/** What was chosen for the questions of each request, for as long as it is not sent. */
export function createAnswers() {
  const { onChange, changed } = createListeners();
  const kept = new Map<string, Choices>();
  return {
    onChange,
    of: (id: string): Choices => kept.get(id) ?? NO_CHOICES,
    keep(id: string, choices: Choices): void {
      const [oldest] = kept.keys();
      if (oldest !== undefined && kept.size >= MAX_KEPT && !kept.has(id)) kept.delete(oldest);
      kept.set(id, choices);
      changed();
    },
    drop(id: string): void {
      if (kept.delete(id)) changed();
    },
  };
}
