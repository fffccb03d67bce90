import { computed, signal } from "@preact/signals";

export type Route =
  /** With an id: one request is shown, whatever became of it. */
  | { page: "inbox"; id?: string }
  | { page: "sessions" }
  | { page: "overview" }
  | { page: "settings" }
  /** With a turn: that one is in view, or what happened in it at this number. */
  | { page: "session"; id: string; turn?: TurnPlace }
  /** With an id: one decision is shown, or one rule. */
  | { page: "history"; id?: string }
  | { page: "rules"; id?: string };

/** Where something stands in a session. */
export type TurnPlace = { id: string; seq: number };

export const linkTo = {
  inbox: "#/inbox",
  sessions: "#/sessions",
  rules: "#/rules",
  overview: "#/overview",
  settings: "#/settings",
  history: "#/history",
  request: (id: string) => `#/inbox/${encodeURIComponent(id)}`,
  session: (id: string) => `#/sessions/${encodeURIComponent(id)}`,
  /** The beginning of a turn, or what stands at a number in it. */
  turn: (session: string, { id, seq }: TurnPlace) =>
    `${linkTo.session(session)}/turns/${encodeURIComponent(id)}${seq > 0 ? `/${seq}` : ""}`,
  rule: (id: string) => `#/rules/${encodeURIComponent(id)}`,
  decision: (id: string) => `#/history/${encodeURIComponent(id)}`,
};

const CODE = /#code=([\w-]+)$/;

/** The one-time code in a link that signs in. */
export function codeIn(link: string): string | undefined {
  return CODE.exec(link)?.[1];
}

export type Router = ReturnType<typeof createRouter>;

/** Where in the page we are; kept in the fragment, which no server ever sees. */
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

    /** The same page under another address, without a step in the history of the browser. */
    replace(to: string): void {
      history.replaceState(null, "", to);
      hash.value = location.hash;
    },

    /** The one-time code that the address brought along, taken out of it and out of the history at once. */
    takeCode(): string | undefined {
      const code = codeIn(location.hash);
      if (code !== undefined) {
        history.replaceState(null, "", linkTo.inbox);
        hash.value = location.hash;
      }
      return code;
    },

    /** A link with a code that is pasted into a page which is open already reloads nothing. */
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

/** An address that somebody has written wrongly is taken as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
