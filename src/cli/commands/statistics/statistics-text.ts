import {
  attentionWords,
  deciderWords,
  dollarWords,
  RANGE_WORDS,
  waitWords,
  withinWords,
} from "../../../client/words/statistics-words.ts";
import { type Attention, decisionsOf, type Statistics, type StatisticsBucket } from "../../../contract/statistics.ts";
import { printable } from "../../terminal/printable.ts";
import { shortened, table } from "../../terminal/table.ts";
import { bold, styled, type Terminal } from "../../terminal/terminal.ts";

const BARS = "▁▂▃▄▅▆▇█";
/** Limits names so that all columns fit into 80. */
const NAME_WIDTH = 22;
const MOST_SESSIONS = 10;
const MOST_BUDGETS = 5;
const LABEL_WIDTH = 10;

/** The command that shows more about each item. */
const COMMANDS: Record<Attention["kind"], string> = {
  pending: "plexus pending",
  unasked: "plexus history --unasked",
  timed_out: "plexus history --status timed_out",
  failed_turns: "plexus sessions",
  budget: "plexus sessions update",
  rules_file: "plexus doctor",
  webhook: "plexus doctor",
};

/** The statistics as text, 80 columns wide. */
export function statisticsText(statistics: Statistics, terminal: Terminal): string {
  const { range, totals } = statistics;
  const title = `In ${RANGE_WORDS[range]}`;
  const nothing = totals.turns + totals.asked + totals.automatic + totals.unanswered === 0;
  const parts = [
    bold(title, terminal),
    nothing ? "Nothing was decided, and no turn has ended.\n" : figures(statistics),
    attention(statistics, terminal),
    nothing ? "" : curves(statistics, terminal),
    deciders(statistics, terminal),
    sessions(statistics, terminal),
    owners(statistics, terminal),
    budgets(statistics, terminal),
  ];
  return parts.filter(Boolean).join("\n");
}

function figures({ totals, waiting, present }: Statistics): string {
  const failed = totals.failed_turns > 0 ? `, ${count(totals.failed_turns)} failed` : "";
  const requests = totals.asked + totals.automatic + totals.unanswered;
  return lines([
    [
      "Cost",
      `${dollarWords(totals.cost_usd)} in ${count(totals.turns)} turns of ${count(totals.sessions)} sessions${failed}`,
    ],
    [
      "Requests",
      `${count(requests)}: ${count(totals.asked)} somebody decided, ${count(totals.automatic)} needed nobody, ${count(totals.unanswered)} unanswered`,
    ],
    [
      "Waiting",
      waiting.p50_secs === null
        ? "–"
        : `half ${withinWords(waiting.p50_secs)}, 19 of 20 ${withinWords(waiting.p95_secs)}`,
    ],
    ["Now", `${count(present.pending)} pending, ${count(present.running)} running, ${count(present.queued)} queued`],
  ]);
}

function attention({ attention: found }: Statistics, terminal: Terminal): string {
  if (found.length === 0) return "";
  const listed = found.flatMap((one) => [
    `  ${printable(attentionWords(one))}`,
    styled("dim", `    ${COMMANDS[one.kind]}`, terminal),
  ]);
  return [bold("Needs attention", terminal), ...listed, ""].join("\n");
}

function curves({ buckets }: Statistics, terminal: Terminal): string {
  const curve = (name: string, of: (bucket: StatisticsBucket) => number, shown: (most: number) => string) => {
    const values = buckets.map(of);
    const most = Math.max(...values);
    return most === 0 ? [] : [[name, `${bars(values, most)}  at most ${shown(most)}`] as [string, string]];
  };
  const all = [
    ...curve("Cost", ({ cost_usd }) => cost_usd, dollarWords),
    ...curve("Requests", ({ asked, automatic, unanswered }) => asked + automatic + unanswered, count),
  ];
  return all.length === 0 ? "" : `${bold("Over time", terminal)}\n${lines(all)}`;
}

function deciders({ deciders: all }: Statistics, terminal: Terminal): string {
  if (all.length === 0) return "";
  const rows = all.map((decider) => [
    named(deciderWords(decider.by)),
    count(decisionsOf(decider)),
    count(decider.allowed),
    count(decider.denied),
    waitWords(decider.p50_secs),
    waitWords(decider.p95_secs),
  ]);
  return table(["DECIDED BY", "REQUESTS", "ALLOWED", "DENIED", "HALF WITHIN", "19 OF 20 WITHIN"], rows, terminal);
}

function sessions({ sessions: all }: Statistics, terminal: Terminal): string {
  if (all.length === 0) return "";
  const rows = all
    .slice(0, MOST_SESSIONS)
    .map(({ name, owner, ...share }) => [named(name), ...shareColumns(share), named(owner)]);
  return table(["SESSION", "COST", "TURNS", "REQUESTS", "PARENT"], rows, terminal);
}

function owners({ owners: all }: Statistics, terminal: Terminal): string {
  if (all.length < 2) return "";
  const rows = all.map(({ owner, sessions: number, ...share }) => [
    named(owner),
    ...shareColumns(share),
    count(number),
  ]);
  return table(["PARENT", "COST", "TURNS", "REQUESTS", "SESSIONS"], rows, terminal);
}

function budgets({ budgets: all }: Statistics, terminal: Terminal): string {
  if (all.length === 0) return "";
  const rows = all
    .slice(0, MOST_BUDGETS)
    .map(({ name, spent_usd, max_usd }) => [
      named(name),
      dollarWords(spent_usd),
      dollarWords(max_usd),
      `${Math.round((100 * spent_usd) / max_usd)} %`,
    ]);
  return table(["BUDGET OF", "SPENT", "OF", "USED"], rows, terminal);
}

function shareColumns({ cost_usd, turns, decisions }: { cost_usd: number; turns: number; decisions: number }) {
  return [dollarWords(cost_usd), count(turns), count(decisions)];
}

/** One bar for each bucket, as high as its value. */
function bars(values: number[], most: number): string {
  const last = BARS.length - 1;
  return values.map((value) => (value === 0 ? " " : BARS[Math.max(0, Math.ceil((value / most) * last))])).join("");
}

function lines(rows: [string, string][]): string {
  return `${rows.map(([name, text]) => `${name.padEnd(LABEL_WIDTH)}${text}`).join("\n")}\n`;
}

function named(text: string): string {
  return shortened(printable(text), NAME_WIDTH);
}

function count(number: number): string {
  return number.toLocaleString("en");
}
