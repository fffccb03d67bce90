import { until } from "../../support/until.ts";
import { plexusOnScreen } from "./command.ts";
import { rowsOf } from "./screen-rows.ts";

export type WatchOptions = { dataDir: string; columns?: number; rows?: number; env?: Record<string, string> };

/** `plexus watch` on a terminal, with the screen's content. */
export function watchScreen({ dataDir, columns = 80, rows = 24, env = {} }: WatchOptions) {
  const screen = plexusOnScreen(["watch", "--data-dir", dataDir], { columns, rows, env: { NO_COLOR: "1", ...env } });
  const now = () => rowsOf(screen.text()).join("\n");
  const shows = async (what: string) => {
    const seen = await until(`the screen to show ${what}`, () => now().includes(what) && now()).catch(() => undefined);
    if (seen === undefined) throw new Error(`the screen never showed "${what}", but:\n${now()}`);
    return seen;
  };
  return Object.assign(screen, { now, rows: () => rowsOf(screen.text()), shows });
}
