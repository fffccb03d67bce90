import { computed, signal } from "@preact/signals";
import { pageAddress, type TurnPlace } from "../../contract/page-address.ts";

export type Route =
  /** With an id: shows one request, even if it was decided. */
  | { page: "inbox"; id?: string }
  | { page: "sessions" }
  | { page: "overview" }
  | { page: "settings" }
  /** With a turn: shows that turn, or the event with this number in it. */
  | { page: "session"; id: string; turn?: TurnPlace }
  /** With an id: shows one decision, or one rule. */
  | { page: "history"; id?: string }
  | { page: "rules"; id?: string };

export const linkTo = {
  ...pageAddress,
  inbox: "#/inbox",
  sessions: "#/sessions",
  rules: "#/rules",
  overview: "#/overview",
  history: "#/history",
  rule: (id: string) => `#/rules/${encodeURIComponent(id)}`,
};

const CODE = /#code=([\w-]+)$/;

/** The one-time code in a sign-in link. */
export function codeIn(link: string): string | undefined {
  return CODE.exec(link)?.[1];
}

export type Router = ReturnType<typeof createRouter>;

/** The present page. It is kept in the fragment, which browsers never send to a server. */
export function createRouter() {
  const hash = signal(location.hash);
  addEventListener("hashchange", () => {
    hash.value = location.hash;
  });

  return {
    route: computed((): Route => {
      const [, page, id, part, turnId, seq] = hash.value.replace(/\?.*/, "").split("/");
      const of = id ? { id: decoded(id) } : {};
      if (page === "sessions" && id) {
        const turn = part === "turns" && turnId ? { turn: { id: decoded(turnId), seq: numberOf(seq) } } : {};
        return { page: "session", id: decoded(id), ...turn };
      }
      if (page === "sessions") return { page };
      if (page === "overview" || page === "settings") return { page };
      return page === "history" || page === "rules" ? { page, ...of } : { page: "inbox", ...of };
    }),

    /** Changes the address without a new entry in the browser's history. */
    replace(to: string): void {
      history.replaceState(null, "", to);
      hash.value = location.hash;
    },

    /** Returns the one-time code in the address, and removes it from the address and the history. */
    takeCode(): string | undefined {
      const code = codeIn(location.hash);
      if (code !== undefined) {
        history.replaceState(null, "", linkTo.inbox);
        hash.value = location.hash;
      }
      return code;
    },

    /** Pasting a link with a code into an open page does not reload the page, so handle it here. */
    onLaterCode(take: () => void): void {
      addEventListener("hashchange", () => {
        if (CODE.test(location.hash)) take();
      });
    },
  };
}

function numberOf(text = ""): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** A malformed address is used as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
