import { computed, signal } from "@preact/signals";

type Route = { page: "inbox" } | { page: "sessions" } | { page: "session"; id: string } | { page: "history" };

export const linkTo = {
  inbox: "#/inbox",
  sessions: "#/sessions",
  history: "#/history",
  session: (id: string) => `#/sessions/${encodeURIComponent(id)}`,
};

const CODE = /^#code=([\w-]+)$/;

export type Router = ReturnType<typeof createRouter>;

/** Where in the page we are; kept in the fragment, which no server ever sees. */
export function createRouter() {
  const hash = signal(location.hash);
  addEventListener("hashchange", () => {
    hash.value = location.hash;
  });

  return {
    route: computed((): Route => {
      const [, page, id] = hash.value.replace(/\?.*/, "").split("/");
      if (page === "sessions") return id ? { page: "session", id: decodeURIComponent(id) } : { page: "sessions" };
      return page === "history" ? { page } : { page: "inbox" };
    }),

    /** The one-time code that the address brought along, taken out of it and out of the history at once. */
    takeCode(): string | undefined {
      const code = CODE.exec(location.hash)?.[1];
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
