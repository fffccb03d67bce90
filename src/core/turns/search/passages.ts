import type { TurnEvent } from "../../../contract/sessions/turn.ts";
import { isJsonObject, type JsonObject } from "../../../contract/values.ts";
import type { TimedTurnEvent } from "../../../storage/turns.ts";

/** Longer texts of a child are searched in parts. */
const MAX_TEXT_CHARS = 1_000_000;

/** What is searched as one: a text with all its pieces, or another event. */
export type Passage = { seq: number; at: number | null; event: TurnEvent; text: string | undefined };

type SpokenType = "content" | "thinking";
type Spoken = { type: SpokenType; pieces: string[]; chars: number; first: TimedTurnEvent };

/** Joins the pieces of texts. Events come newest first; `end` is called at the beginning of each turn. */
export function createPassages() {
  let spoken: Spoken | undefined;

  function end(): Passage[] {
    if (!spoken) return [];
    const { first, pieces } = spoken;
    spoken = undefined;
    return [{ ...first, text: pieces.reverse().join("") }];
  }

  return {
    end,
    /** Returns the passages that are complete now. */
    add(stored: TimedTurnEvent): Passage[] {
      const piece = pieceOf(stored.event);
      if (!piece) return [...end(), { ...stored, text: undefined }];
      const before = spoken?.type === piece.type && spoken.chars < MAX_TEXT_CHARS ? [] : end();
      spoken ??= { type: piece.type, pieces: [], chars: 0, first: stored };
      spoken.pieces.push(piece.text);
      spoken.chars += piece.text.length;
      spoken.first = stored;
      return before;
    },
  };
}

function pieceOf(event: TurnEvent): { type: SpokenType; text: string } | undefined {
  if (event.type === "content") return { type: event.type, text: event.text };
  if (event.type === "thinking") return { type: event.type, text: event.thinking };
  return undefined;
}

/** The texts of an event that people search: what was said, called, answered and decided. */
export function* textsOf(event: TurnEvent): Generator<string> {
  switch (event.type) {
    case "tool_use":
      yield* textsIn(event.input);
      yield event.tool_name;
      return;
    case "tool_result":
      yield event.output;
      return;
    case "approval_resolved":
      if (event.response_message !== null) yield event.response_message;
      if (event.updated_input) yield* textsIn(event.updated_input);
      return;
    case "error":
      yield event.message;
      return;
    case "passthrough":
      if (event.event_type.startsWith("subagent/")) yield* textsIn(blockOf(event.data));
      return;
    // The pieces of a text are joined before, the prompt is read apart, and the rest has no words of its own.
    case "content":
    case "thinking":
    case "start":
    case "approval_requested":
    case "complete":
  }
}

function blockOf(data: unknown): JsonObject {
  const block = isJsonObject(data) ? data["block"] : undefined;
  return isJsonObject(block) ? block : {};
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) yield String(value);
  else for (const one of Object.values(value)) yield* textsIn(one);
}
