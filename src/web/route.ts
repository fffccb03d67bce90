import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

export type Route = { page: "inbox" } | { page: "sessions" } | { page: "session"; id: string } | { page: "history" };

/** Where in the page we are; kept in the fragment, which no server ever sees. */
export const route = computed((): Route => {
  const [, page, id] = hash.value.replace(/\?.*/, "").split("/");
  if (page === "sessions") return id ? { page: "session", id: decodeURIComponent(id) } : { page: "sessions" };
  return page === "history" ? { page } : { page: "inbox" };
});

export const linkTo = {
  inbox: "#/inbox",
  sessions: "#/sessions",
  history: "#/history",
  session: (id: string) => `#/sessions/${encodeURIComponent(id)}`,
};

const CODE = /^#code=([\w-]+)$/;

export function hasCode(): boolean {
  return CODE.test(location.hash);
}

/** The one-time code that the address brought along, taken out of it and out of the history at once. */
export function takeCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, "", linkTo.inbox);
    hash.value = location.hash;
  }
  return code;
}
