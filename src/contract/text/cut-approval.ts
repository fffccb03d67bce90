import type { ToldApproval } from "../approvals/approval.ts";
import type { JsonObject } from "../values.ts";
import { cutToJson } from "./cut.ts";
import { cutObject, cutPlaced, cutTextAt, writtenChars } from "./cut-object.ts";
import { cutText } from "./cut-text.ts";

/**
 * Shortens the approval to at most `limit` characters of JSON; if shortened, it says so and has the input's size. The
 * words in place of what is missing from the input, or from a plan, name its offset in the text that `loopback_get` reads;
 * `cut_at` is the first of these.
 */
export function cutApproval<T extends ToldApproval>(approval: T, limit: number): T {
  if (JSON.stringify(approval).length <= limit) return approval;
  const { response_message, updated_input, plan, diff } = approval;
  const short = {
    ...approval,
    tool_name: cutText(approval.tool_name, 200),
    ...(response_message && { response_message: cutText(response_message, 1_000) }),
    truncated: true as const,
    input_size: JSON.stringify(approval.input).length,
  };
  const empty = { input: {}, updated_input: null, plan: "", diff: "", cut_at: Number.MAX_SAFE_INTEGER };
  const around = JSON.stringify({ ...short, ...empty }).length;
  const parts = [approval.input, updated_input, plan, diff].filter((part) => part !== undefined && part !== null);
  const shares = sharesOf(parts.map(sizeOf), limit - around);
  const fitted = <P, C>(part: P, cut: (part: P, room: number) => C): C => cut(part, shares.shift() ?? 0);
  const input = fitted(approval.input, cutPlaced);
  const edited = updated_input && fitted(updated_input, cutObject);
  const shownPlan = plan === undefined ? undefined : fitted(plan, (text, room) => cutPlan(approval.input, text, room));
  const cut_at = input.cutAt ?? shownPlan?.cutAt;
  return {
    ...short,
    ...(cut_at !== undefined && { cut_at }),
    input: input.value,
    ...(edited && { updated_input: edited }),
    ...(shownPlan && { plan: shownPlan.value }),
    ...(diff !== undefined && { diff: fitted(diff, cutToJson) }),
  };
}

/** A plan is read as a key of its request's input, as `loopback_get` shows it. */
function cutPlan(input: ToldApproval["input"], plan: string, limit: number): { value: string; cutAt?: number } {
  const at = placeOf("plan", { ...input, plan });
  let cutAt: number | undefined;
  let value = plan;
  for (let longest = limit; JSON.stringify(value).length > limit && longest > 100; longest = Math.floor(longest * 0.8))
    value = cutTextAt(plan, longest, at, writtenChars, (from) => {
      cutAt = from;
    });
  return { value, ...(cutAt !== undefined && { cutAt }) };
}

/** Where the text of this key begins in the object's JSON. */
function placeOf(key: string, value: JsonObject): number {
  const entries = Object.entries(value);
  const before = entries.slice(
    0,
    Math.max(
      0,
      entries.findIndex(([name]) => name === key),
    ),
  );
  const comma = before.length > 0 ? 1 : 0;
  return JSON.stringify(Object.fromEntries(before)).length - 1 + comma + `"${key}":"`.length;
}

/** Divides `room` among the parts: large parts get what small ones leave. */
function sharesOf(sizes: number[], room: number): number[] {
  const shares = new Map<number, number>();
  const smallestFirst = [...sizes.entries()].sort(([, one], [, other]) => one - other);
  for (const [place, [index, size]] of smallestFirst.entries()) {
    const share = Math.max(0, Math.floor(room / (smallestFirst.length - place)));
    shares.set(index, share);
    room -= Math.min(size, share);
  }
  return sizes.map((_, index) => shares.get(index) ?? 0);
}

function sizeOf(part: unknown): number {
  return JSON.stringify(part).length;
}
