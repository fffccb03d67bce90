/** Where things stand on the page: fragments, which no server ever sees. */
export const pageAddress = {
  request: (id: string): string => `#/inbox/${encodeURIComponent(id)}`,
  decision: (id: string): string => `#/history/${encodeURIComponent(id)}`,
  settings: "#/settings",
  session: (id: string): string => `#/sessions/${encodeURIComponent(id)}`,
};
