import { printable } from "../terminal/printable.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

/** The result of one step. */
export type Finding = {
  step: Step;
  state: "ok" | "warning" | "failed" | "skipped";
  /** What the step found, or what is wrong. */
  says: string;
  /** How to fix it. */
  remedy?: string;
};

const STEPS = [
  "data dir",
  "port",
  "server",
  "token",
  "rules",
  "webhooks",
  "push",
  "claude",
  "settings",
  "parent",
  "ask",
  "allow",
  "deny",
  "edit",
] as const;
export type Step = (typeof STEPS)[number];

const MARKS = { ok: ["✓", "green"], warning: ["!", "yellow"], failed: ["✗", "red"], skipped: ["-", "dim"] } as const;
const WIDTH = Math.max(...STEPS.map((step) => step.length)) + 2;

export function findingText({ step, state, says, remedy }: Finding, terminal: Terminal): string {
  const [mark, style] = MARKS[state];
  const lines = [`${styled(style, mark, terminal)} ${step.padEnd(WIDTH)}${printable(says)}`];
  if (remedy !== undefined) lines.push(`  ${" ".repeat(WIDTH)}→ ${printable(remedy)}`);
  return `${lines.join("\n")}\n`;
}

/** A failed step, with the remedy. */
export class Failing extends Error {
  override readonly name = "Failing";
  constructor(
    message: string,
    readonly remedy: string,
  ) {
    super(message);
  }
}

/** Runs a step; any error becomes its finding. */
export async function found(step: Step, look: () => string | Promise<string>): Promise<Finding> {
  try {
    return { step, state: "ok", says: await look() };
  } catch (cause) {
    const says = cause instanceof Error ? cause.message : String(cause);
    return { step, state: "failed", says, ...(cause instanceof Failing && { remedy: cause.remedy }) };
  }
}

export function skipped(step: Step, says: string): Finding {
  return { step, state: "skipped", says };
}
