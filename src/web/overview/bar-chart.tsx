import { useId } from "preact/hooks";
import { Scrollable } from "../shared/elements/scrollable.tsx";

export type Series = { name: string; class: string; values: number[] };
type BarChartProps = {
  title: string;
  /** The description of each bar. */
  labels: string[];
  series: Series[];
  shown: (value: number) => string;
};

const HEIGHT = 120;
const STEP = 20;
const GAP = 4;

/**
 * Stacked bars over time. They use only attributes, because the page's CSP forbids inline styles. A table has the same
 * figures, for screen readers and for people who want numbers.
 */
export function BarChart({ title, labels, series, shown }: BarChartProps) {
  const id = useId();
  const totals = labels.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const most = Math.max(...totals);
  const scale = most === 0 ? 0 : HEIGHT / most;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>
        <h2>{title}</h2>
        <span class="note">{most === 0 ? "nothing" : `at most ${shown(most)}`}</span>
        {series.length > 1 && (
          <ul class="legend">
            {series.map(({ name, class: color }) => (
              <li key={name} class={color}>
                {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <svg
        class="bars"
        viewBox={`0 0 ${labels.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: the figures are in the table below.`}
      >
        {labels.map((label, index) => (
          <g key={label}>
            <title>{`${label}: ${shown(totals[index] ?? 0)}`}</title>
            <rect class="hover" x={index * STEP} y={0} width={STEP} height={HEIGHT} />
            {stacked(series, index, scale).map(({ color, y, height }) => (
              <rect key={color} class={color} x={index * STEP + GAP / 2} y={y} width={STEP - GAP} height={height} />
            ))}
          </g>
        ))}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{labels[0]}</span>
        <span>{labels.at(-1)}</span>
      </p>
      <details>
        <summary>Figures</summary>
        <Scrollable class="table-scroll" label={`${title}, as a table`}>
          <table class="table">
            <thead>
              <tr>
                <th>Time</th>
                {series.map(({ name }) => (
                  <th key={name} class="right">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, index) => (
                <tr key={label}>
                  <td>{label}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} class="right">
                      {shown(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scrollable>
      </details>
    </figure>
  );
}

/** The parts of one bar, from the bottom up. */
function stacked(series: Series[], index: number, scale: number) {
  let y = HEIGHT;
  return series.flatMap(({ class: color, values }) => {
    const height = (values[index] ?? 0) * scale;
    y -= height;
    return height > 0 ? [{ color, y, height }] : [];
  });
}
