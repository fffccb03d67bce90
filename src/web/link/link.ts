import { computed, signal } from "@preact/signals";
import { createApi } from "../../client/api.ts";
import { createConfirmation } from "../../client/deciding/confirmation.ts";
import { type Review, reviewOf } from "../../client/deciding/reviews.ts";
import { LINK, LINK_PATH, type OpenedLink } from "../../contract/link.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { decideByLink, openLink } from "../../contract/routes/links.ts";
import { fetchUncached, WORDS } from "../page.ts";
import { createClock } from "../shared/clock.ts";
import { followed } from "../shared/followed.ts";

const KEY = "plexus-link";

type Ended = OpenedLink & { type: "already_resolved" };
/** What the person sees. With `isOurs`, this page has just decided the request. */
type LinkState =
  | { kind: "loading" }
  | { kind: "open"; opened: OpenedLink & { type: "ok" }; review: Review }
  | { kind: "ended"; ended: Pick<Ended, "status" | "resolved_by" | "resolved_at">; isOurs: boolean }
  | { kind: "refused"; reason: string };

export type Link = ReturnType<typeof createLink>;

/** A one-time link, from its address to the decision. Loading the page decides nothing; only a press does. */
export function createLink() {
  const now = createClock();
  const api = createApi({
    server: () => ({ url: "", token: undefined }),
    fetch: fetchUncached,
    words: WORDS,
    door: "page",
  });
  const confirmation = createConfirmation({ now: () => performance.now() });
  const state = signal<LinkState>({ kind: "loading" });
  const isSending = signal(false);
  /** Why a decision failed to arrive. */
  const failure = signal("");
  let text = takeLink();

  async function open(): Promise<void> {
    const asked = text;
    if (asked === undefined) {
      state.value = { kind: "refused", reason: "This address has no link in it: open the one in the message again." };
      return;
    }
    try {
      const opened = await api.call(openLink, { body: { link: asked } });
      if (asked !== text || isSending.peek()) return;
      show(opened);
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      // Keep the screen while the server is away for a moment.
      if (asked === text && (state.peek().kind === "loading" || cause.status === 404)) refuse(cause);
    }
  }

  function show(opened: OpenedLink): void {
    const before = state.peek();
    if (opened.type === "already_resolved") {
      state.value = { kind: "ended", ended: opened, isOurs: false };
      return;
    }
    state.value = { kind: "open", opened, review: reviewOf(opened.approval, opened.context) };
    // Ignore presses for a moment: they were meant for something else.
    if (before.kind !== "open") confirmation.hesitate();
  }

  function refuse({ message }: Refused): void {
    state.value = { kind: "refused", reason: message };
  }

  async function send(approve: boolean, message: string): Promise<void> {
    if (text === undefined || isSending.peek()) return;
    isSending.value = true;
    failure.value = "";
    try {
      const body = { link: text, approve, ...(message !== "" && { message }) };
      const result = await api.call(decideByLink, { body });
      const ended = result.type === "ok" ? { status: result.status, resolved_by: "", resolved_at: now.peek() } : result;
      state.value = { kind: "ended", ended, isOurs: result.type === "ok" };
    } catch (cause) {
      if (!(cause instanceof Refused)) throw cause;
      if (cause.status === 404) refuse(cause);
      else failure.value = cause.message;
    } finally {
      isSending.value = false;
      confirmation.disarm();
    }
  }

  addEventListener("hashchange", () => {
    const next = takeLink();
    if (next === undefined || next === text) return;
    text = next;
    state.value = { kind: "loading" };
    confirmation.disarm();
    void open();
  });
  // Someone else may have decided while the page was hidden.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && state.peek().kind === "open") void open();
  });
  void open();

  const pressed = followed(confirmation.armed, confirmation);
  return {
    now,
    state,
    isSending,
    failure,
    /** The decision that waits for a second press, with the reason; `undefined` once its time is up. */
    armed: computed(() => {
      now.value;
      return pressed.value && confirmation.armed();
    }),

    /** Allows immediately. A dangerous request needs a second press. */
    async allow(): Promise<void> {
      const shown = state.peek();
      if (shown.kind !== "open" || isSending.peek()) return;
      const pressed = await confirmation.press({
        target: shown.review.approval.id,
        reasons: async () => shown.review.dangers.map(({ message }) => message),
        isCurrent: () => state.peek().kind === "open",
      });
      if (pressed === "confirmed") await send(true, "");
    },

    async deny(message: string): Promise<void> {
      if (!confirmation.isTooSoon()) await send(false, message);
    },
  };
}

/**
 * The link in the address. Removes it from the address and the history immediately, and keeps it for a reload of the
 * page.
 */
function takeLink(): string | undefined {
  const given = location.hash.slice(1);
  if (LINK.test(given)) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", LINK_PATH);
  }
  return sessionStorage.getItem(KEY) ?? undefined;
}
