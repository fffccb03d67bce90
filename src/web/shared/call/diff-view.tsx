import { useSignal } from "@preact/signals";
import type { FileDiff, Hunk, Line, Stretch } from "../../../review/diff.ts";
import { usePage } from "../../context.ts";
import { Scrollable } from "../elements/scrollable.tsx";
import { Visible, visibleText } from "../elements/visible.tsx";

const FIRST_LINES = 400;

/** A difference, unified or side by side; a long one opens on demand. */
export function DiffView({ path, diff }: { path: string; diff: FileDiff }) {
  const { diffLayout } = usePage().preferences;
  const isWhole = useSignal(false);
  const total = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const hunks = isWhole.value ? diff.hunks : firstOf(diff.hunks);
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
            <tbody key={hunk.from}>
              <tr class="hunk">
                <td colSpan={isSplit ? 4 : 3}>line {hunk.from}</td>
              </tr>
              {isSplit ? pairs(hunk.lines).map(SplitRow) : hunk.lines.map(UnifiedRow)}
            </tbody>
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

function UnifiedRow({ sign, number, stretches }: Line) {
  return (
    <tr class={CLASSES[sign]}>
      <td class="number">{number.before}</td>
      <td class="number">{number.after}</td>
      <td class="text" data-sign={sign}>
        <Stretches of={stretches} />
      </td>
    </tr>
  );
}

type Pair = { left: Line | undefined; right: Line | undefined };

function SplitRow({ left, right }: Pair) {
  return (
    <tr>
      <td class="number">{left?.number.before}</td>
      <td class={`text ${left ? CLASSES[left.sign] : "none"}`}>{left && <Stretches of={left.stretches} />}</td>
      <td class="number">{right?.number.after}</td>
      <td class={`text ${right ? CLASSES[right.sign] : "none"}`}>{right && <Stretches of={right.stretches} />}</td>
    </tr>
  );
}

function Stretches({ of }: { of: Stretch[] }) {
  return (
    <>
      {of.map(({ text, isChanged }) =>
        isChanged ? (
          <span class="changed">
            <Visible text={text} />
          </span>
        ) : (
          <Visible text={text} />
        ),
      )}
    </>
  );
}

/** What goes beside what comes. */
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
