type Labels = Record<string, string>;
type Sample = { suffix?: string; labels?: Labels; value: number };
/** A label, with the values that are shown from the start, so that the first count is an increase. */
type Label = { name: string; values: readonly string[] };

/**
 * Metrics in the text format of Prometheus (0.0.4). Written by hand: the library would add four packages, and tens of
 * milliseconds to every start.
 */
export function createMetricText() {
  const families: (() => Promise<string>)[] = [];

  function family(
    type: "counter" | "gauge" | "histogram",
    name: string,
    help: string,
    read: () => Sample[] | Promise<Sample[]>,
  ): void {
    const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    families.push(async () => {
      const lines = (await read()).map(
        ({ suffix = "", labels = {}, value }) => `${name}${suffix}${braced(labels)} ${value}\n`,
      );
      return head + lines.join("");
    });
  }

  return {
    /** A metric whose value is read on request. */
    read: family,

    /** A counter, which only grows; `by` is never negative. */
    counter(name: string, help: string, label?: Label): (by?: number, value?: string) => void {
      const counts = new Map((label?.values ?? [""]).map((value) => [value, 0]));
      family("counter", name, help, () =>
        [...counts].map(([value, count]) => ({ labels: label ? { [label.name]: value } : {}, value: count })),
      );
      return (by = 1, value = "") => void counts.set(value, (counts.get(value) ?? 0) + by);
    },

    /** A histogram: the number of values up to each of `bounds`, their total number, and their sum. */
    histogram(name: string, help: string, bounds: number[], label?: Label): (seconds: number, value?: string) => void {
      const seen = new Map((label?.values ?? [""]).map((value) => [value, empty(bounds)]));
      family("histogram", name, help, () =>
        [...seen].flatMap(([value, { within, count, sum }]) => {
          const labels = label ? { [label.name]: value } : {};
          const bucket = (le: string, value: number) => ({ suffix: "_bucket", labels: { ...labels, le }, value });
          return [
            ...bounds.map((bound, index) => bucket(String(bound), within[index] ?? 0)),
            bucket("+Inf", count),
            { suffix: "_sum", labels, value: sum },
            { suffix: "_count", labels, value: count },
          ];
        }),
      );
      return (seconds, value = "") => {
        const { within, count, sum } = seen.get(value) ?? empty(bounds);
        const more = within.map((known, index) => known + (seconds <= (bounds[index] ?? 0) ? 1 : 0));
        seen.set(value, { within: more, count: count + 1, sum: sum + seconds });
      };
    },

    text: async (): Promise<string> => (await Promise.all(families.map((write) => write()))).join(""),
  };
}

export type MetricText = ReturnType<typeof createMetricText>;

function empty(bounds: number[]) {
  return { within: bounds.map(() => 0), count: 0, sum: 0 };
}

function braced(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
