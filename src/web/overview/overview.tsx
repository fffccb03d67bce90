import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import {
  attentionWords,
  deciderWords,
  dollarWords,
  RANGE_WORDS,
  waitWords,
  withinWords,
} from "../../client/words/statistics-words.ts";
import { getStatistics } from "../../contract/routes/statistics.ts";
import { type Attention, decisionsOf, type Statistics, StatisticsRange } from "../../contract/statistics.ts";
import { usePage } from "../context.ts";
import { Scrollable } from "../shared/elements/scrollable.tsx";
import { Visible } from "../shared/elements/visible.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";
import { BarChart } from "./bar-chart.tsx";
import { SessionTree } from "./session-tree.tsx";

const REFRESH_MS = 15_000;

/** The page with costs and decisions over time, and everything that needs attention. */
export function OverviewPage() {
  const { api, announcer } = usePage();
  const range = useSignal<StatisticsRange>("24h");
  const found = useSignal<Statistics | undefined>(undefined);
  useEffect(() => {
    let isLeft = false;
    const read = async () => {
      if (document.visibilityState !== "visible") return;
      const query = { range: range.value, utc_offset_mins: -new Date().getTimezoneOffset() };
      try {
        const answer = await api.call(getStatistics, { query });
        if (!isLeft) found.value = answer;
      } catch (cause) {
        if (!isLeft) announcer.complain(`The statistics can't be read: ${reasonOf(cause)}`);
      }
    };
    void read();
    const timer = setInterval(() => void read(), REFRESH_MS);
    return () => {
      isLeft = true;
      clearInterval(timer);
    };
  }, [range.value]);
  return (
    <main class="page overview">
      <header class="page-head">
        <h1>Overview</h1>
        <select
          class="range"
          aria-label="Time"
          value={range}
          onChange={({ currentTarget }) => (range.value = StatisticsRange.parse(currentTarget.value))}
        >
          {StatisticsRange.options.map((one) => (
            <option key={one} value={one}>
              {RANGE_WORDS[one].replace(/^t/, "T")}
            </option>
          ))}
        </select>
      </header>
      {found.value ? <Found statistics={found.value} /> : <p class="nothing">Loading…</p>}
    </main>
  );
}

function Found({ statistics }: { statistics: Statistics }) {
  const { buckets, totals, waiting, present } = statistics;
  const labels = buckets.map(({ at }) => bucketName(at, statistics.bucket_secs));
  const requests = totals.asked + totals.automatic + totals.unanswered;
  const ease = requests === 0 ? "–" : `${Math.round((100 * totals.automatic) / requests)} %`;
  return (
    <>
      <AttentionList attention={statistics.attention} />
      <dl class="figures">
        <Figure name="Cost" value={dollarWords(totals.cost_usd)} note={`${totals.turns.toLocaleString()} turns`} />
        <Figure name="Decided by somebody" value={totals.asked.toLocaleString()} note={waitingNote(waiting)} />
        <Figure
          name="Needed nobody"
          value={totals.automatic.toLocaleString()}
          note={`${ease} of all requests, decided by rules`}
        />
        <Figure
          name="Now"
          value={`${present.running.toLocaleString()} running`}
          note={`${present.pending.toLocaleString()} pending, ${present.queued.toLocaleString()} queued`}
        />
      </dl>
      <div class="charts">
        <BarChart
          title="Cost"
          labels={labels}
          shown={dollarWords}
          series={[{ name: "Cost", class: "series-cost", values: buckets.map(({ cost_usd }) => cost_usd) }]}
        />
        <BarChart
          title="Requests"
          labels={labels}
          shown={(value) => value.toLocaleString()}
          series={[
            { name: "Needed nobody", class: "series-automatic", values: buckets.map(({ automatic }) => automatic) },
            { name: "Somebody decided", class: "series-asked", values: buckets.map(({ asked }) => asked) },
            { name: "Unanswered", class: "series-unanswered", values: buckets.map(({ unanswered }) => unanswered) },
          ]}
        />
      </div>
      <Deciders deciders={statistics.deciders} />
      <Shares
        title="Sessions"
        head="Session"
        rows={statistics.sessions.map((one) => ({
          ...one,
          key: one.session_id,
          name: one.name,
          to: linkTo.session(one.session_id),
        }))}
      />
      <Shares
        title="Parents"
        head="Parent"
        rows={statistics.owners.map((one) => ({ ...one, key: one.owner, name: one.owner }))}
      />
      <Budgets budgets={statistics.budgets} />
      <SessionTree />
    </>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        <small>{note}</small>
      </dd>
    </div>
  );
}

function AttentionList({ attention }: { attention: Attention[] }) {
  if (attention.length === 0) return <p class="all-well">Nothing needs attention.</p>;
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {attention.map((one) => (
          <li key={attentionWords(one)} class={one.kind}>
            <a href={placeOf(one)}>
              <Visible text={attentionWords(one)} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function placeOf(attention: Attention): string {
  switch (attention.kind) {
    case "pending":
      return linkTo.inbox;
    case "budget":
      return linkTo.session(attention.session_id);
    case "rules_file":
      return linkTo.rules;
    case "timed_out":
      return linkTo.history;
    case "unasked":
    case "failed_turns":
    case "webhook":
      return linkTo.sessions;
  }
}

function Deciders({ deciders }: { deciders: Statistics["deciders"] }) {
  if (deciders.length === 0) return null;
  return (
    <Table title="Decisions" heads={["By", "Requests", "Allowed", "Denied", "Half within", "19 of 20 within"]}>
      {deciders.map((one) => (
        <tr key={one.by}>
          <td>
            <Visible text={deciderWords(one.by)} />
          </td>
          <td class="right">{decisionsOf(one).toLocaleString()}</td>
          <td class="right">{one.allowed.toLocaleString()}</td>
          <td class="right">{one.denied.toLocaleString()}</td>
          <td class="right">{waitWords(one.p50_secs)}</td>
          <td class="right">{waitWords(one.p95_secs)}</td>
        </tr>
      ))}
    </Table>
  );
}

type ShareRow = { key: string; name: string; to?: string; cost_usd: number; turns: number; decisions: number };

function Shares({ title, head, rows }: { title: string; head: string; rows: ShareRow[] }) {
  if (rows.length === 0) return null;
  return (
    <Table title={title} heads={[head, "Cost", "Turns", "Requests"]}>
      {rows.map(({ key, name, to, cost_usd, turns, decisions }) => (
        <tr key={key}>
          <td>
            {to === undefined ? (
              <Visible text={name} />
            ) : (
              <a href={to}>
                <Visible text={name} />
              </a>
            )}
          </td>
          <td class="right">{dollarWords(cost_usd)}</td>
          <td class="right">{turns.toLocaleString()}</td>
          <td class="right">{decisions.toLocaleString()}</td>
        </tr>
      ))}
    </Table>
  );
}

function Budgets({ budgets }: { budgets: Statistics["budgets"] }) {
  if (budgets.length === 0) return null;
  return (
    <Table title="Budgets" heads={["Session", "Spent", "Of", "Used"]}>
      {budgets.map(({ session_id, name, spent_usd, max_usd }) => (
        <tr key={session_id}>
          <td>
            <a href={linkTo.session(session_id)}>
              <Visible text={name} />
            </a>
          </td>
          <td class="right">{dollarWords(spent_usd)}</td>
          <td class="right">{dollarWords(max_usd)}</td>
          <td class="right">
            <meter min={0} max={1} high={0.8} value={spent_usd / max_usd} aria-label={`Budget of ${name}`} />{" "}
            {Math.round((100 * spent_usd) / max_usd)} %
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Table({ title, heads, children }: { title: string; heads: string[]; children: ComponentChildren }) {
  return (
    <section class="overview-table" aria-label={title}>
      <h2>{title}</h2>
      <Scrollable class="table-scroll" label={`${title}, as a table`}>
        <table class="table">
          <thead>
            <tr>
              {heads.map((head, column) => (
                <th key={head} class={column === 0 ? "" : "right"}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </Scrollable>
    </section>
  );
}

function waitingNote({ p50_secs, p95_secs }: Statistics["waiting"]): string {
  return p50_secs === null ? "nobody was asked" : `half ${withinWords(p50_secs)}, 19 of 20 ${withinWords(p95_secs)}`;
}

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const dayAndHour = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

function bucketName(at: number, bucketSecs: number): string {
  return (bucketSecs < 86_400 ? dayAndHour : day).format(at * 1000);
}
