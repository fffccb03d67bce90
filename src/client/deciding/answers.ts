import { type Choices, NO_CHOICES } from "../../review/choices.ts";
import { keepNewest } from "../keep-newest.ts";
import { createListeners } from "../listeners.ts";

const MAX_KEPT = 100;

export type Answers = ReturnType<typeof createAnswers>;

/** Keeps the choices for each request's questions until they are sent. */
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
