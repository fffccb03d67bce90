import { diffWordsWithSpace, structuredPatch } from "diff";
import type { CurrentFile } from "../contract/approvals/approval-context.ts";
import { countOf, editedText } from "./edited-text.ts";
import type { FileEdit } from "./kinds.ts";

const CONTEXT_LINES = 3;
/** After this time the difference is shown as all old lines, then all new ones. */
const TIMEOUT_MS = 400;
const MAX_WORD_DIFF_CHARS = 2_000;
/** The limit for both texts together: comparing more takes too long, and nobody reads it. */
const MAX_LINES = 100_000;
const MAX_SHOWN_LINES = 2_000;

/** A run of words in a line, changed or not. */
export type Stretch = { text: string; isChanged: boolean };
export type Line = { sign: " " | "+" | "-"; number: { before?: number; after?: number }; stretches: Stretch[] };
export type Hunk = { from: number; lines: Line[] };
export type FileDiff = { hunks: Hunk[]; added: number; removed: number; note: string | undefined };

/** Limits on the work for a diff: computing it blocks the event loop. */
export type DiffEffort = { timeoutMs: number; marksWords: boolean };
const FOR_A_PERSON: DiffEffort = { timeoutMs: TIMEOUT_MS, marksWords: true };

/**
 * Returns what a write would change in the current file; without a file (the call was decided before), what it writes.
 */
export function diffOfWrite(
  content: string,
  file: CurrentFile | null | undefined,
  effort: DiffEffort = FOR_A_PERSON,
): FileDiff {
  if (file?.state === "text") return diffOf(file.text, content, undefined, effort);
  if (file === undefined) return diffOf("", content, undefined, effort);
  if (file?.state === "absent") return diffOf("", content, "a new file", effort);
  const reason = file ? `the current file is not shown: ${file.reason}` : "the current file is not known";
  return diffOf("", content, reason, effort);
}

/** Returns what edits would change in the current file; without it, the texts that they replace. */
export function diffOfEdits(
  edits: FileEdit[],
  file: CurrentFile | null | undefined,
  effort: DiffEffort = FOR_A_PERSON,
): FileDiff {
  const edited = file?.state === "text" ? editedText(file.text, edits) : undefined;
  if (file?.state === "text" && edited?.state === "text") return diffOf(file.text, edited.text, undefined, effort);
  const before = edits.map((edit) => edit.before).join("\n");
  const after = edits.map((edit) => edit.after).join("\n");
  const note =
    edited?.state === "too_long" ? "the edited file is too long to compare; only the edits are shown" : undefined;
  return diffOf(before, after, note ?? (file === undefined ? undefined : noteOn(file)), effort);
}

function noteOn(file: CurrentFile | null): string {
  if (file?.state === "text")
    return "the file does not contain this text as it is given, or more than once; only the edit is shown";
  if (file?.state === "absent") return "the file does not exist";
  return file ? `the file is not shown: ${file.reason}` : "the current file is not known; only the edit is shown";
}

function diffOf(before: string, after: string, note: string | undefined, effort: DiffEffort): FileDiff {
  const { timeoutMs: timeout, marksWords } = effort;
  const [removed, added] = [before, after].map((text) => (text === "" ? 0 : countOf("\n", text) + 1)) as [
    number,
    number,
  ];
  if (removed + added > MAX_LINES) return uncompared(after, { removed, added }, note);
  const patch = structuredPatch("", "", before, after, "", "", { context: CONTEXT_LINES, timeout });
  const plain = patch ? patch.hunks.map(toHunk) : [replacement(before, after)];
  const hunks = marksWords ? plain.map(({ from, lines }) => ({ from, lines: withWords(lines) })) : plain;
  const count = (sign: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.sign === sign).length;
  return { hunks, added: count("+"), removed: count("-"), note };
}

/** The result for texts that are too long to compare: their sizes, and the first lines of the new one. */
function uncompared(after: string, count: { removed: number; added: number }, note: string | undefined): FileDiff {
  const lines = after.split("\n", MAX_SHOWN_LINES).map((text) => `+${text}`);
  const cut = `too long to compare; of ${count.added} lines the first ${lines.length} are shown`;
  const shown = toHunk({ oldStart: 1, newStart: 1, lines });
  return { hunks: [shown], ...count, note: note === undefined ? cut : `${note}; ${cut}` };
}

type PatchHunk = { oldStart: number; newStart: number; lines: string[] };

function toHunk({ oldStart, newStart, lines }: PatchHunk): Hunk {
  let before = oldStart;
  let after = newStart;
  const numbered = lines.flatMap((text): Line[] => {
    const sign = text[0];
    const stretches = [{ text: text.slice(1), isChanged: false }];
    if (sign === "-") return [{ sign, number: { before: before++ }, stretches }];
    if (sign === "+") return [{ sign, number: { after: after++ }, stretches }];
    // "\ No newline at end of file" is not a line of the file.
    return sign === " " ? [{ sign, number: { before: before++, after: after++ }, stretches }] : [];
  });
  return { from: newStart, lines: numbered };
}

function replacement(before: string, after: string): Hunk {
  const lines = [...before.split("\n").map((text) => `-${text}`), ...after.split("\n").map((text) => `+${text}`)];
  return toHunk({ oldStart: 1, newStart: 1, lines });
}

/** Marks the words that differ, if as many lines are added as removed. */
function withWords(lines: Line[]): Line[] {
  const result = [...lines];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, "-");
    const added = runOf(lines, at + removed, "+");
    if (removed === added) for (let pair = at; pair < at + removed; pair++) markWords(result, pair, pair + removed);
    at += Math.max(1, removed + added);
  }
  return result;
}

function runOf(lines: Line[], from: number, sign: Line["sign"]): number {
  let end = from;
  while (lines[end]?.sign === sign) end++;
  return end - from;
}

function markWords(lines: Line[], removedAt: number, addedAt: number): void {
  const [removed, added] = [lines[removedAt], lines[addedAt]];
  if (!removed || !added) return;
  const [before, after] = [textOf(removed), textOf(added)];
  if (before.length + after.length > MAX_WORD_DIFF_CHARS) return;
  const words = diffWordsWithSpace(before, after);
  const of = (skip: "added" | "removed", own: "added" | "removed"): Stretch[] =>
    words.filter((word) => !word[skip]).map((word) => ({ text: word.value, isChanged: word[own] === true }));
  lines[removedAt] = { ...removed, stretches: of("added", "removed") };
  lines[addedAt] = { ...added, stretches: of("removed", "added") };
}

export function textOf({ stretches }: Line): string {
  return stretches.map(({ text }) => text).join("");
}

/** Formats the diff for an agent. Each line of a file has its sign before it, so none can pass for a line of ours. */
export function diffText({ hunks, added, removed, note }: FileDiff): string {
  const changes = hunks.flatMap(({ from, lines }) => [
    `@@ line ${from} @@`,
    ...lines.map((line) => `${line.sign}${textOf(line)}`),
  ]);
  return [`+${added} -${removed}${note === undefined ? "" : ` (${note})`}`, ...changes].join("\n");
}
