import { type Choices, NO_CHOICES } from "../../review/choices.ts";
import { keepNewest } from "../keep-newest.ts";
import { createListeners } from "../listeners.ts";

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
      keepNewest(kept, id, choices, MAX_KEPT);
      changed();
    },
    drop(id: string): void {
      if (kept.delete(id)) changed();
    },
  };
}
