/** The path of the web manifest, with which a browser installs the page as an app. */
export const MANIFEST_PATH = "/manifest.webmanifest";
/** At the root, because a worker controls only paths beside or below its own. */
export const WORKER_PATH = "/worker.js";

/** A place in a session: a turn and the number of an event in it; 0 is the start of the turn. */
export type TurnPlace = { id: string; seq: number };

/** Addresses within the page. They are fragments, which no server ever sees. */
export const pageAddress = {
  request: (id: string): string => `#/inbox/${encodeURIComponent(id)}`,
  decision: (id: string): string => `#/history/${encodeURIComponent(id)}`,
  settings: "#/settings",
  session: (id: string): string => `#/sessions/${encodeURIComponent(id)}`,
  turn: (session: string, { id, seq }: TurnPlace): string =>
    `${pageAddress.session(session)}/turns/${encodeURIComponent(id)}${seq > 0 ? `/${seq}` : ""}`,
};
