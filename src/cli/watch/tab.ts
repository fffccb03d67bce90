import type { Line } from "../terminal/lines.ts";

/** One of the two views between head and foot of the screen, and what the keys do there. */
export type Tab = {
  /** Whether the key was text that is being written, or pasted. */
  takeText(key: string): boolean;
  take(key: string): void;
  /** It is shown from now on, or not any more. */
  entered(): void;
  left(): void;
  /** What the list is narrowed to, and how it is grouped. */
  about(): string;
  view(columns: number): {
    body: Line[];
    /** What is being written, in place of the last message. */
    written: Line | undefined;
    keys: Line;
  };
};
