/** The sections of the interface, each with its topic. */
export const TAGS = {
  Approvals: "Calls that children ask about, and what was decided.",
  Rules: "Standing decisions, and what they would have decided before.",
  Audit: "The hash chains over decisions, for the operator.",
  Sessions: "Children that Plexus starts, turn by turn. `key` is a session's id or its name.",
  Turns: "One prompt and all that followed.",
  Events: "What happens, as it happens.",
  Statistics: "What has happened over time, added up.",
  Tokens: "Named tokens, for the operator.",
  Webhooks: "Where what happens is told, for the operator.",
  Push: "Browsers and phones that are told of requests, also where no page is open.",
  Links: "One-time links that webhooks send: each decides one request.",
  Page: "How the web page signs in.",
  Server: "How the server is.",
};
export type Tag = keyof typeof TAGS;
