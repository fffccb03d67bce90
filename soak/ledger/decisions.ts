import type { Approval } from "../../src/contract/approvals/approval.ts";
import type { JsonObject } from "../../src/contract/values.ts";
import type { Random } from "../../tests/support/random.ts";

/** A decision in the form of the row that must contain it. */
export type Resolution = Pick<Approval, "status" | "response_message" | "updated_input" | "resolved_by"> & {
  interrupt: boolean;
};

export type Decision = { approve: boolean; message?: string; updated_input?: JsonObject; interrupt?: boolean };

/** Longer inputs are not echoed to the CLI; `{}` means the same. */
const MAX_ECHO_BYTES = 8_000;
const LARGE = 12_000;

/** Creates a decision with a unique text, except for the plain ones that most people send. */
export function newDecision(random: Random, nonce: string): Decision {
  const kind = random.between(0, 9);
  if (kind <= 1) return { approve: true };
  if (kind === 2) return { approve: false };
  if (kind <= 4) return { approve: true, message: `yes ${nonce} „Grüße“ 🙂` };
  if (kind <= 6) return { approve: false, message: `no ${nonce} „Grüße“ 🙂` };
  if (kind === 7) return { approve: false, message: `stop ${nonce}`, interrupt: true };
  const padding = random.chance(0.1) ? "x".repeat(LARGE) : "";
  // It has every key that a child's input may have.
  const whole = { command: `edited ${nonce}`, description: "edited", left: false, padding };
  return { approve: true, updated_input: { ...whole, nested: { list: [1, null, "ü"] } } };
}

export function resolutionOf(decision: Decision, resolved_by: string): Resolution {
  return {
    status: decision.approve ? "allowed" : "denied",
    response_message: decision.message ?? null,
    updated_input: decision.updated_input ?? null,
    interrupt: decision.interrupt ?? false,
    resolved_by,
  };
}

export function isSame(one: Resolution, other: Resolution): boolean {
  const { status, response_message, updated_input, interrupt, resolved_by } = other;
  return (
    one.status === status &&
    one.response_message === response_message &&
    one.interrupt === interrupt &&
    one.resolved_by === resolved_by &&
    Bun.deepEquals(one.updated_input, updated_input, true)
  );
}

/** The answer that the child must get, derived from the documentation, not from the server's code. */
export function answerFor(resolution: Resolution, input: JsonObject): JsonObject | undefined {
  switch (resolution.status) {
    case "allowed": {
      const echo = Buffer.byteLength(JSON.stringify(input)) <= MAX_ECHO_BYTES ? input : {};
      return { behavior: "allow", updatedInput: resolution.updated_input ?? echo };
    }
    case "denied": {
      const message =
        resolution.response_message ?? `Denied by ${resolution.resolved_by}, without a reason. The tool was not run.`;
      return { behavior: "deny", message, ...(resolution.interrupt && { interrupt: true }) };
    }
    case "timed_out":
    case "abandoned":
      return { behavior: "deny", message: resolution.response_message ?? "" };
    case "pending":
      return undefined;
  }
}
