import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { cancelTurn } from "../../contract/routes/sessions.ts";
import type { SessionDetail } from "../../contract/sessions/session-view.ts";
import { usePage } from "../context.ts";
import { Icon } from "../shared/elements/icons.tsx";
import { Visible } from "../shared/elements/visible.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";
import { ChatBox } from "./chat-box.tsx";
import { QueuedTurn } from "./queued-turn.tsx";
import { DeleteDialog, ForkDialog } from "./session-dialogs.tsx";
import { SessionRequests } from "./session-requests.tsx";
import { dollars, isGoingOn, SessionBadge } from "./status.tsx";
import { createTranscriptSearch } from "./transcript/search.ts";
import { SearchField, SearchHits } from "./transcript/search-view.tsx";
import { openTranscript } from "./transcript/transcript.ts";
import { TranscriptView } from "./transcript/transcript-view.tsx";

/** One session: its settings, its transcript, and a field for the next prompt. */
export function SessionPage({ id }: { id: string }) {
  const { api, announcer } = usePage();
  const transcript = useMemo(() => openTranscript(api, id), [id]);
  useEffect(() => transcript.close, [transcript]);
  const search = useMemo(() => createTranscriptSearch(api, id), [id]);
  const dialog = useSignal<"none" | "fork" | "delete">("none");
  const session = transcript.session.value;
  const cancel = async () => {
    try {
      await api.call(cancelTurn, { params: { key: id } });
      await transcript.refresh();
    } catch (cause) {
      announcer.complain(reasonOf(cause));
    }
  };
  if (!session) {
    return (
      <main class="page">
        <h1 class="unseen">Session</h1>
        <p class="nothing">{transcript.problem.value ?? "Loading…"}</p>
      </main>
    );
  }
  const isRunning = isGoingOn(session.status);
  const isQueued = session.status === "queued";
  return (
    <main class="session">
      <Head session={session}>
        {session.kind === "managed" && <SearchField search={search} sessionId={session.id} />}
        {session.kind === "managed" && <HousekeepingToggle />}
        {isRunning && (
          <button type="button" class="button" onClick={() => void cancel()}>
            Cancel turn
          </button>
        )}
        {session.kind === "managed" && (
          <button type="button" class="button" onClick={() => (dialog.value = "fork")}>
            Fork
          </button>
        )}
        <button type="button" class="button" onClick={() => (dialog.value = "delete")}>
          Delete
        </button>
      </Head>
      {session.kind === "by_hand" ? (
        <>
          <p class="nothing">A claude that was started by hand: Plexus sees what it requests, not what it says.</p>
          <SessionRequests sessionId={session.id} />
        </>
      ) : (
        <>
          <SearchHits search={search} sessionId={session.id} />
          <TranscriptView transcript={transcript} sessionId={session.id} search={search} />
        </>
      )}
      {isQueued && <QueuedTurn transcript={transcript} session={session} />}
      {session.kind === "managed" && (
        <ChatBox id={id} isRunning={isRunning} isQueued={isQueued} onSent={transcript.refresh} />
      )}
      {dialog.value === "fork" && <ForkDialog session={session} onClose={() => (dialog.value = "none")} />}
      {dialog.value === "delete" && <DeleteDialog session={session} onClose={() => (dialog.value = "none")} />}
    </main>
  );
}

type HeadProps = { session: SessionDetail; children: preact.ComponentChildren };

function Head({ session, children }: HeadProps) {
  return (
    <header class="page-head">
      <a class="icon-button" href={linkTo.sessions} aria-label="All sessions">
        <Icon name="back" />
      </a>
      <h1>{session.name}</h1>
      <SessionBadge status={session.status} />
      <span class="facts">
        {dollars(session.total_cost_usd)}
        {session.model && ` · ${session.model}`}
        {session.working_dir && (
          <>
            {" · "}
            <code class="path">
              <Visible text={session.working_dir} />
            </code>
          </>
        )}
      </span>
      <span class="head-actions">{children}</span>
    </header>
  );
}

/** Shows or hides the CLI's messages about itself, which are rarely of interest. */
function HousekeepingToggle() {
  const { housekeeping } = usePage().preferences;
  const isShown = housekeeping.value === "shown";
  return (
    <button
      type="button"
      class="button"
      aria-pressed={isShown}
      title="Messages of the CLI about itself"
      onClick={() => (housekeeping.value = isShown ? "hidden" : "shown")}
    >
      {isShown ? "Less" : "All messages"}
    </button>
  );
}
