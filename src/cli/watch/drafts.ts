import { editedReview, type Review } from "../../client/deciding/reviews.ts";
import { keepNewest } from "../../client/keep-newest.ts";
import { createListeners } from "../../client/listeners.ts";
import type { Config } from "../../config.ts";
import type { Approval } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { kindOf } from "../../review/kinds.ts";
import type { Style } from "../terminal/terminal.ts";
import { editJson } from "./editor.ts";

type Draft = { text: string; input: JsonObject | undefined };
const MAX_KEPT = 20;

export type Drafts = ReturnType<typeof createDrafts>;

/** Inputs that the person has edited but not yet used in a decision. */
export function createDrafts(config: Config) {
  const drafts = new Map<string, Draft>();
  const { onChange, changed } = createListeners();

  function keep(id: string, draft: Draft): void {
    keepNewest(drafts, id, draft, MAX_KEPT);
    changed();
  }

  return {
    onChange,
    inputFor: (id: string): JsonObject | undefined => drafts.get(id)?.input,
    drop(id: string | undefined): void {
      if (id !== undefined && drafts.delete(id)) changed();
    },
    /** Opens the editor and returns a message about the result. */
    async edit(approval: Approval): Promise<{ text: string; style: Style }> {
      const before = drafts.get(approval.id)?.text ?? `${JSON.stringify(editable(approval), null, 2)}\n`;
      const edited = await editJson(before, approval.input, config);
      switch (edited.kind) {
        case "input":
          keep(approval.id, { text: edited.text, input: edited.input });
          return {
            text: "Edited. Press a to allow it like this, A to remember it too, Esc to drop the edit.",
            style: "cyan",
          };
        case "invalid":
          keep(approval.id, { text: edited.text, input: undefined });
          return {
            text: `Not used, since it ${edited.reason}. Press e to go on with it, Esc to drop it.`,
            style: "yellow",
          };
        case "unchanged":
          return { text: "Nothing was changed, and nothing decided.", style: "dim" };
        case "failed":
          return { text: `Nothing was changed: ${edited.reason}.`, style: "yellow" };
      }
    },
  };
}

/** The review of a request, with the person's edit if there is one. */
export function withDraft(review: Review, drafts: Drafts): Review {
  const input = drafts.inputFor(review.approval.id);
  return input ? editedReview(review, input) : review;
}

/** Adds empty answers to a question's input, because the child reads the answers there. */
function editable(approval: Approval): JsonObject {
  const kind = kindOf(approval);
  if (kind.kind !== "questions" || "answers" in approval.input) return approval.input;
  return { ...approval.input, answers: Object.fromEntries(kind.questions.map(({ question }) => [question, ""])) };
}
