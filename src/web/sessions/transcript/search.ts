import { signal } from "@preact/signals";
import type { Api } from "../../../client/api.ts";
import { searchSession } from "../../../contract/routes/turns.ts";
import type { TranscriptHit } from "../../../contract/sessions/transcript-hit.ts";
import { reasonOf } from "../../shared/reason.ts";

const PAGE = 50;
/** The pause in typing after which the search starts. */
const TYPING_MS = 250;

export type TranscriptSearch = ReturnType<typeof createTranscriptSearch>;

/** Searches a text in all turns of a session, newest event first, page by page. */
export function createTranscriptSearch(api: Api, key: string) {
  const text = signal("");
  const hits = signal<TranscriptHit[]>([]);
  /** The index of the match in view. */
  const at = signal(-1);
  /** `idle`: there may be more matches. `complete`: all turns were searched. */
  const state = signal<"idle" | "reading" | "complete">("idle");
  const searchedBackTo = signal<number | undefined>(undefined);
  const problem = signal("");
  /** Increases whenever a match is shown, even the same one again. */
  const shows = signal(0);
  let cursor: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let generation = 0;

  /** Reads pages until something is found. A newer search stops it. */
  async function read(): Promise<void> {
    const mine = ++generation;
    state.value = "reading";
    try {
      for (let found = 0; found === 0; ) {
        const query = { search: text.peek().trim(), limit: PAGE, cursor };
        const page = await api.call(searchSession, { params: { key }, query });
        if (mine !== generation) return;
        found = page.hits.length;
        cursor = page.cursor ?? undefined;
        hits.value = [...hits.peek(), ...page.hits];
        searchedBackTo.value = page.searched_back_to;
        if (page.cursor === null) break;
      }
      state.value = cursor === undefined ? "complete" : "idle";
    } catch (cause) {
      if (mine !== generation) return;
      problem.value = reasonOf(cause);
      state.value = "complete";
    }
  }

  return {
    text,
    hits,
    at,
    state,
    searchedBackTo,
    problem,
    shows,
    show(place: number): void {
      at.value = place;
      shows.value++;
    },
    look(typed: string): void {
      clearTimeout(timer);
      generation++;
      text.value = typed;
      hits.value = [];
      at.value = -1;
      problem.value = "";
      searchedBackTo.value = undefined;
      cursor = undefined;
      state.value = typed.trim() === "" ? "complete" : "reading";
      if (typed.trim() !== "") timer = setTimeout(() => void read(), TYPING_MS);
    },
    async more(): Promise<void> {
      if (state.peek() === "idle") await read();
    },
  };
}
