import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { FileDiff, Hunk, Line } from "../../../review/diff.ts";
import { usePage } from "../../context.ts";
import { Scrollable } from "../elements/scrollable.tsx";
import { Visible, visibleText } from "../elements/visible.tsx";
import { languageOf, useHighlight } from "../highlight/highlight.ts";
import { Runs } from "../highlight/runs.tsx";
import { colouredLines, type Piece } from "./coloured-lines.ts";

const FIRST_LINES = 400;

/** A diff, unified or side by side. A long one opens on demand. */
export function DiffView({ path, diff }: { path: string; diff: FileDiff }) {
  const { diffLayout } = usePage().preferences;
  const isWhole = useSignal(false);
  const total = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const hunks = useMemo(() => (isWhole.value ? diff.hunks : firstOf(diff.hunks)), [diff, isWhole.value]);
  const isSplit = diffLayout.value === "split";
  return (
    <section class="diff" aria-label={`Changes to ${visibleText(path)}`}>
      <header class="diff-head">
        <code class="path">
          <Visible text={path} />
        </code>
        <span class="count added">+{diff.added.toLocaleString()}</span>
        <span class="count removed">−{diff.removed.toLocaleString()}</span>
        <button
          type="button"
          class="button small"
          aria-pressed={isSplit}
          onClick={() => (diffLayout.value = isSplit ? "unified" : "split")}
        >
          {isSplit ? "Unified" : "Split"}
        </button>
      </header>
      {diff.note && <p class="note">{diff.note}</p>}
      <Scrollable class="diff-scroll" label="Changed lines">
        <table class={isSplit ? "lines split" : "lines"}>
          {isSplit && (
            <colgroup>
              <col class="number" />
              <col />
              <col class="number" />
              <col />
            </colgroup>
          )}
          {hunks.map((hunk) => (
            <HunkRows key={hunk.from} hunk={hunk} language={languageOf(path)} isSplit={isSplit} />
          ))}
        </table>
      </Scrollable>
      {diff.hunks.length === 0 && <p class="note">Nothing would change.</p>}
      {!isWhole.value && total > FIRST_LINES && (
        <button type="button" class="unfold" onClick={() => (isWhole.value = true)}>
          Show all {total.toLocaleString()} lines
        </button>
      )}
    </section>
  );
}

const CLASSES = { " ": "same", "+": "added", "-": "removed" };

type HunkProps = { hunk: Hunk; language: string; isSplit: boolean };

function HunkRows({ hunk: { from, lines }, language, isSplit }: HunkProps) {
  const highlight = useHighlight(language);
  const pieces = useMemo(() => colouredLines(lines, highlight), [lines, highlight]);
  return (
    <tbody>
      <tr class="hunk">
        <td colSpan={isSplit ? 4 : 3}>line {from}</td>
      </tr>
      {isSplit
        ? pairs(lines).map((pair) => <SplitRow {...pair} pieces={pieces} />)
        : lines.map((line) => <UnifiedRow line={line} pieces={pieces} />)}
    </tbody>
  );
}

type Pieces = Map<Line, Piece[]>;

function UnifiedRow({ line, pieces }: { line: Line; pieces: Pieces }) {
  const { sign, number } = line;
  return (
    <tr class={CLASSES[sign]}>
      <td class="number">{number.before}</td>
      <td class="number">{number.after}</td>
      <td class="text" data-sign={sign}>
        <LineText of={pieces.get(line)} />
      </td>
    </tr>
  );
}

type Pair = { left: Line | undefined; right: Line | undefined };

function SplitRow({ left, right, pieces }: Pair & { pieces: Pieces }) {
  return (
    <tr>
      <td class="number">{left?.number.before}</td>
      <td class={`text ${left ? CLASSES[left.sign] : "none"}`}>{left && <LineText of={pieces.get(left)} />}</td>
      <td class="number">{right?.number.after}</td>
      <td class={`text ${right ? CLASSES[right.sign] : "none"}`}>{right && <LineText of={pieces.get(right)} />}</td>
    </tr>
  );
}

function LineText({ of = [] }: { of?: Piece[] | undefined }) {
  return (
    <>
      {of.map((piece) =>
        piece.isChanged ? (
          <span class="changed">
            <Runs of={[piece]} />
          </span>
        ) : (
          <Runs of={[piece]} />
        ),
      )}
    </>
  );
}

/** Pairs removed with added lines. */
function pairs(lines: Line[]): Pair[] {
  const result: Pair[] = [];
  let removed: Line[] = [];
  const flush = () => {
    result.push(...removed.map((left) => ({ left, right: undefined })));
    removed = [];
  };
  for (const line of lines) {
    if (line.sign === "-") removed.push(line);
    else if (line.sign === "+") result.push({ left: removed.shift(), right: line });
    else {
      flush();
      result.push({ left: line, right: line });
    }
  }
  flush();
  return result;
}

function firstOf(hunks: Hunk[]): Hunk[] {
  let left = FIRST_LINES;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left));
    left -= hunk.lines.length;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
}
