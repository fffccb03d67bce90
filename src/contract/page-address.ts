/** Where the browser finds what it needs to install the page as an app. */
export const MANIFEST_PATH = "/manifest.webmanifest";
/** At the root, since a worker serves only what lies beside or below it. */
export const WORKER_PATH = "/worker.js";

/** Where things stand on the page: fragments, which no server ever sees. */
export const pageAddress = {
  request: (id: string): string => `#/inbox/${encodeURIComponent(id)}`,
  decision: (id: string): string => `#/history/${encodeURIComponent(id)}`,
  settings: "#/settings",
  session: (id: string): string => `#/sessions/${encodeURIComponent(id)}`,
};
