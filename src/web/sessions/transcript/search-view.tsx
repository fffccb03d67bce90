import { useLayoutEffect, useRef } from "preact/hooks";
import { hitWords } from "../../../client/words/words.ts";
import type { TranscriptHit } from "../../../contract/sessions/transcript-hit.ts";
import { MAX_SEARCH_CHARS } from "../../../contract/values.ts";
import { usePage } from "../../context.ts";
import { moment } from "../../shared/clock.ts";
import { Scrollable } from "../../shared/elements/scrollable.tsx";
import { Visible } from "../../shared/elements/visible.tsx";
import { linkTo } from "../../shared/route.ts";
import type { TranscriptSearch } from "./search.ts";

type Props = { search: TranscriptSearch; sessionId: string };

/** The search field of a transcript, with links to the matches. */
export function SearchField({ search, sessionId }: Props) {
  const { router } = usePage();
  const { text, hits, at } = search;
  const show = async (by: number) => {
    if (at.value + by >= hits.value.length) await search.more();
    const next = Math.min(hits.value.length - 1, Math.max(0, at.value + by));
    const hit = hits.value[next];
    if (!hit) return;
    search.show(next);
    router.replace(addressOf(sessionId, hit));
  };
  return (
    <input
      type="text"
      data-filter
      class="search"
      aria-label="Search the whole transcript"
      placeholder="Search the transcript"
      title="Enter shows the next hit, Shift+Enter the one before, Escape ends the search"
      maxLength={MAX_SEARCH_CHARS}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => search.look(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          void show(event.shiftKey ? -1 : 1);
        }
        if (event.key !== "Escape") return;
        search.look("");
        event.currentTarget.blur();
      }}
    />
  );
}

export function SearchHits({ search, sessionId }: Props) {
  const { text, hits, at, state, searchedBackTo, problem } = search;
  if (text.value.trim() === "") return null;
  const count = hits.value.length;
  const isReading = state.value === "reading";
  const since = searchedBackTo.value;
  return (
    <section class="hits" aria-label="Hits of the search">
      <p class="note" role="status">
        {count === 0 && state.value === "complete" && problem.value === "" && "Nothing in this session matches"}
        {count > 0 &&
          `${at.value >= 0 ? `${at.value + 1} of ` : ""}${count.toLocaleString()}${state.value === "complete" ? "" : "+"} hits, the newest first`}
        {isReading &&
          `${count > 0 ? " · " : ""}Searching…${since === undefined ? "" : ` all since ${moment(since)} is searched`}`}
      </p>
      {problem.value !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {count > 0 && (
        <Scrollable class="hit-list" label="Hits, the newest first">
          <ol>
            {hits.value.map((hit, place) => (
              <Hit
                key={`${hit.turn_id}~${hit.seq}`}
                hit={hit}
                to={addressOf(sessionId, hit)}
                text={text.value.trim()}
                isShown={place === at.value}
                onShow={() => search.show(place)}
              />
            ))}
          </ol>
          {state.value !== "complete" && (
            <button type="button" class="button small" disabled={isReading} onClick={() => void search.more()}>
              Search on
            </button>
          )}
        </Scrollable>
      )}
    </section>
  );
}

type HitProps = { hit: TranscriptHit; to: string; text: string; isShown: boolean; onShow: () => void };

function Hit({ hit, to, text, isShown, onShow }: HitProps) {
  const row = useRef<HTMLAnchorElement>(null);
  useLayoutEffect(() => {
    if (isShown) row.current?.scrollIntoView({ block: "nearest" });
  }, [isShown]);
  return (
    <li>
      <a ref={row} href={to} aria-current={isShown} onClick={onShow}>
        <span class="kind">{hitWords(hit)}</span>
        <span class="excerpt">
          <Marked excerpt={hit.excerpt} text={text} />
        </span>
        {hit.at !== undefined && <span class="at">{moment(hit.at)}</span>}
      </a>
    </li>
  );
}

/** The excerpt with its first match marked. */
function Marked({ excerpt, text }: { excerpt: string; text: string }) {
  const at = excerpt.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return <Visible text={excerpt} />;
  return (
    <>
      <Visible text={excerpt.slice(0, at)} />
      <mark>
        <Visible text={excerpt.slice(at, at + text.length)} />
      </mark>
      <Visible text={excerpt.slice(at + text.length)} />
    </>
  );
}

function addressOf(sessionId: string, { turn_id: id, seq }: TranscriptHit): string {
  return linkTo.turn(sessionId, { id, seq });
}
