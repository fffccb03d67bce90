import { line } from "../terminal/lines.ts";
import { helpLines } from "./help-lines.ts";
import { DOWN, PAGE_DOWN, PAGE_UP, UP } from "./screen/moving-keys.ts";
import { createScroll } from "./screen/scroll.ts";

/** Shows what the keys do until the person goes back. */
export function createHelp(tab: () => "requests" | "sessions") {
  const scroll = createScroll();
  return {
    /** Whether the key scrolls; any other key leaves the help. */
    take(key: string, rows: number): boolean {
      if (DOWN.includes(key)) scroll.by(1);
      else if (UP.includes(key)) scroll.by(-1);
      else if (key === PAGE_DOWN) scroll.by(rows - 1);
      else if (key === PAGE_UP) scroll.by(1 - rows);
      else {
        scroll.toTop();
        return false;
      }
      return true;
    },
    view(columns: number, rows: number) {
      const { lines, part } = scroll.view(helpLines(tab(), columns), rows);
      const more = part === "" ? "" : `j/k PgDn scroll${part}, `;
      return { body: lines, written: undefined, keys: line(`${more}any other key goes back`, "dim") };
    },
  };
}
