import { signal } from "@preact/signals";
import { type Decision, RespondResult } from "../../contract/approvals/approval.ts";
import type { JsonObject } from "../../contract/values.ts";
import { announce, complain } from "../announcer.tsx";
import { endsSignIn, signedOut } from "../sign-in.tsx";
import { visibleText } from "../text/visible.tsx";
import { callersOwn } from "../wire/callers-own.ts";
import { reasonOf, request } from "../wire/request.ts";
import { answerOf, hasAnswers, openQuestion } from "./answering.ts";
import { type Ask, checked, forget, lose, selected, selectedId } from "./asks.ts";
import { examine } from "./examined.ts";

const ARMED_MS = 6_000;
/** A press so soon after another was meant for what stood there before, or is the same one. */
const SETTLE_MS = 350;
/** So many decisions are on their way at once. */
const AT_ONCE = 8;

/** An allow that waits for its second press, and why. */
export type Armed = { ids: string; reasons: string[] };
export const armed = signal<Armed | undefined>(undefined);
/** Why a key has done nothing to the question that is looked at. */
export const hint = signal("");
export const isDeciding = signal(false);
/** Which dialog is open over the inbox. */
export const dialog = callersOwn<"none" | "deny" | "edit">("none");

let lastActAt = Number.NEGATIVE_INFINITY;
let disarming: ReturnType<typeof setTimeout> | undefined;

/** Those that are ticked, else the one that is looked at. */
export function targets(): Ask[] {
  if (checked.peek().length > 0) return checked.peek();
  const one = selected.peek();
  return one && one.outcome === undefined ? [one] : [];
}

/** Allows at once; what is dangerous, or many, only when asked twice. */
export async function allow(): Promise<void> {
  const chosen = targets();
  if (chosen.length === 0 || isDeciding.peek() || performance.now() - lastActAt < SETTLE_MS) return;
  const ids = chosen.map(({ approval }) => approval.id).join();
  if (armed.peek()?.ids !== ids) {
    const reasons = await reasonsFor(chosen);
    // The person may have moved on while we looked.
    if (
      ids !==
      targets()
        .map(({ approval }) => approval.id)
        .join()
    )
      return;
    if (reasons.length > 0) return arm({ ids, reasons });
  }
  await decideAll(chosen, () => ({ approve: true }));
}

/** By the key that allows: a question that somebody has begun to answer is not let go without the answers. */
export async function allowByKey(): Promise<void> {
  if (hasAnswers(openQuestion()))
    explain("You have chosen answers: press Enter to send them, or Skip to leave them out.");
  else await allow();
}

/** Sends the answers that are chosen, once there is one for each question. */
export async function answer(): Promise<void> {
  const question = openQuestion();
  if (question === undefined || performance.now() - lastActAt < SETTLE_MS) return;
  const input = answerOf(question);
  if (input === undefined) explain("Choose an answer to every question first.");
  else await allowWith(input);
}

export async function allowWith(input: JsonObject): Promise<void> {
  const one = selected.peek();
  if (one) await decideAll([one], () => ({ approve: true, updated_input: input }));
}

export async function deny(chosen: Ask[], message: string, interrupt: boolean): Promise<void> {
  await decideAll(chosen, () => ({
    approve: false,
    ...(message !== "" && { message }),
    ...(interrupt && { interrupt: true }),
  }));
}

export function disarm(): void {
  clearTimeout(disarming);
  armed.value = undefined;
  hint.value = "";
}

selectedId.subscribe(disarm);

function explain(text: string): void {
  hint.value = text;
  announce(text);
}

function arm(next: Armed): void {
  hint.value = "";
  lastActAt = performance.now();
  armed.value = next;
  announce(`Press again to allow: it ${next.reasons.join("; ")}`);
  clearTimeout(disarming);
  disarming = setTimeout(disarm, ARMED_MS);
}

async function reasonsFor(chosen: Ask[]): Promise<string[]> {
  const reasons = new Set<string>();
  await eachOf(chosen, async ({ approval }) => {
    for (const { message } of (await examine(approval)).dangers) reasons.add(message);
  });
  const isInView = chosen.length === 1 && chosen[0]?.approval.id === selectedId.peek();
  return isInView ? [...reasons] : [`allows ${chosen.length} selected, in view or not`, ...reasons];
}

async function decideAll(chosen: Ask[], decisionFor: (ask: Ask) => Decision): Promise<void> {
  if (chosen.length === 0 || isDeciding.peek()) return;
  disarm();
  isDeciding.value = true;
  complain("");
  try {
    await eachOf(chosen, (ask) => decide(ask, decisionFor(ask)));
  } finally {
    lastActAt = performance.now();
    isDeciding.value = false;
    dialog.value = "none";
  }
}

async function decide({ approval }: Ask, decision: Decision): Promise<void> {
  const call = `${visibleText(approval.tool_name)} of ${approval.session_name}`;
  const path = `/api/v1/approvals/${encodeURIComponent(approval.id)}/respond`;
  try {
    const result = await request(RespondResult, "POST", path, decision);
    if (result.type === "ok") {
      announce(`${decision.approve ? "Allowed" : "Denied"} ${call}`);
      return forget(approval.id);
    }
    const { status, resolved_by: by, resolved_at: at } = result;
    announce(`${by} was faster: ${status}`);
    lose(approval.id, { status, by, at, message: null, lost: true });
  } catch (cause) {
    if (endsSignIn(cause)) signedOut(reasonOf(cause));
    complain(`${call} was not decided: ${reasonOf(cause)}`);
  }
}

async function eachOf<T>(items: T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
