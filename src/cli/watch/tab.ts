import type { Line } from "../terminal/lines.ts";

/** One of the two views between the head and the foot of the screen, and its keys. */
export type Tab = {
  /** Whether the key was typed or pasted text. */
  takeText(key: string): boolean;
  take(key: string): void;
  /** The tab is now in view, or no longer. */
  entered(): void;
  left(): void;
  /** How the list is filtered and grouped. */
  about(): string;
  view(columns: number): {
    body: Line[];
    /** The text in progress, in place of the last message. */
    written: Line | undefined;
    keys: Line;
  };
};
