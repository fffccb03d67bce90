import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Review } from "../../client/deciding/reviews.ts";
import { decidedBy, decidedByWords } from "../../client/words/decided-by.ts";
import { MAX_REASON_CHARS } from "../../contract/link.ts";
import { pageAddress } from "../../contract/page-address.ts";
import { duration } from "../../contract/text/duration.ts";
import { realPathsOf } from "../../review/real-paths.ts";
import { CallBody } from "../shared/call/call-body.tsx";
import { Dangers, RealPaths, WorkingDir } from "../shared/elements/judged.tsx";
import { StatusBadge } from "../shared/elements/status-badge.tsx";
import { Visible, visibleText } from "../shared/elements/visible.tsx";
import type { Link } from "./link.ts";

/** The page of a one-time link: its request with the dangers and the buttons, or how the request ended. */
export function LinkPage({ link }: { link: Link }) {
  const state = link.state.value;
  return (
    <main class="link-page">
      <p class="brand">
        <img src="/assets/icon.svg" alt="" width="22" height="22" />
        <span>Plexus</span>
      </p>
      {state.kind === "loading" && <p class="note">Loading…</p>}
      {state.kind === "refused" && (
        <p class="link-over" role="alert">
          {state.reason}
        </p>
      )}
      {state.kind === "ended" && <Ending link={link} {...state} />}
      {state.kind === "open" && (
        <RequestView link={link} review={state.review} name={state.opened.name} expires={state.opened.expires_at}>
          <Actions link={link} verdict={state.opened.verdict} />
        </RequestView>
      )}
    </main>
  );
}

type RequestProps = { link: Link; review: Review; name: string; expires: number; children: ComponentChildren };

function RequestView({ link, review: { approval, context, dangers }, name, expires, children }: RequestProps) {
  const left = expires - link.now.value;
  return (
    <article class="card" aria-label={`${visibleText(approval.tool_name)} of ${approval.session_name}`}>
      <header class="card-head">
        <h1>
          {visibleText(approval.tool_name)} of <Visible text={approval.session_name} />
        </h1>
        <span class={left < 30 ? "time-left urgent" : "time-left"}>
          {left > 0 ? `${duration(left)} left` : "time is up"}
        </span>
      </header>
      <div class="card-body">
        <Dangers reasons={dangers.map(({ message }) => message)} />
        {approval.said !== undefined && (
          <blockquote class="said" aria-label="Said before">
            <Visible text={approval.said} />
          </blockquote>
        )}
        <RealPaths paths={realPathsOf(approval, context)} />
        <CallBody approval={approval} context={context} />
        <WorkingDir path={context?.working_dir ?? null} />
      </div>
      {children}
      <p class="note link-note">
        Decides this one request, once, as <code>link:{name}</code>.{" "}
        <a href={`/${pageAddress.request(approval.id)}`}>Open in Plexus</a>
      </p>
    </article>
  );
}

function Actions({ link, verdict }: { link: Link; verdict: "any" | "allow" | "deny" }) {
  const reason = useSignal("");
  const waiting = link.armed.value;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void link.deny(reason.peek().trim());
  };
  return (
    <footer class="actions link-actions">
      {waiting && (
        <p class="armed" role="alert">
          Press again to allow: it <Visible text={waiting.reasons.join("; ")} />
        </p>
      )}
      <p class="refusal" role="alert">
        {link.failure.value}
      </p>
      {verdict !== "deny" && (
        <button
          type="button"
          class={waiting ? "button danger" : "button primary"}
          disabled={link.isSending}
          onClick={() => void link.allow()}
        >
          {waiting ? "Allow anyway" : "Allow"}
        </button>
      )}
      {verdict !== "allow" && (
        <form class="link-deny" onSubmit={submit}>
          <label for="reason">Reason (shown to the agent)</label>
          <input
            id="reason"
            type="text"
            autocomplete="off"
            maxLength={MAX_REASON_CHARS}
            value={reason}
            onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
          />
          <button type="submit" class="button" disabled={link.isSending}>
            Deny
          </button>
        </form>
      )}
    </footer>
  );
}

type EndingProps = {
  link: Link;
  ended: {
    status: "pending" | "allowed" | "denied" | "timed_out" | "abandoned";
    resolved_by: string;
    resolved_at: number;
  };
  isOurs: boolean;
};

function Ending({ link, ended: { status, resolved_by, resolved_at }, isOurs }: EndingProps) {
  return (
    <div class="link-over" role="status">
      <StatusBadge status={status} />
      <p>
        {isOurs
          ? "You have decided this request. You can close this page."
          : `This request was decided before, by ${visibleText(decidedByWords(decidedBy(resolved_by)))}, ${duration(link.now.value - resolved_at)} ago.`}
      </p>
    </div>
  );
}
