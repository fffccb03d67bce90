import type { App, Principal } from "../../app.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import { decideByLink, openLink } from "../../contract/routes/links.ts";
import { APPROVAL_ID, ASKED_AT, PENDING_RECORD } from "../../contract/samples.ts";
import { createWrongTokenLimit } from "../middleware/auth.ts";
import { type ServedOpenly, serveOpenly } from "../serve.ts";

export type LinksApp = Pick<App, "links">;

/** The requests of a one-time link's page. The link is in the body, so that no proxy logs it. */
export function linkRoutes(app: LinksApp): ServedOpenly[] {
  const wrong = createWrongTokenLimit();

  /** Counts wrong links, and so never delays a valid one. */
  async function guarded<T>(principal: Principal | undefined, use: () => Promise<T>): Promise<T> {
    if (principal?.kind === "session")
      throw new AppError("forbidden", "A child decides nothing, by a link or without.");
    try {
      return await use();
    } catch (cause) {
      if (cause instanceof AppError && cause.code === "not_found") wrong.count();
      throw cause;
    }
  }

  return [
    serveOpenly(openLink, {
      tag: "Links",
      summary: "Shows what a one-time link leads to, and uses up nothing",
      token: "none",
      body: { link: LINK },
      answer: {
        says: "The request with what helps to decide it, or how it has ended.",
        example: {
          type: "ok",
          name: "phone",
          verdict: "any",
          expires_at: ASKED_AT + 300,
          approval: PENDING_RECORD,
          context: { working_dir: "/srv/project", file: null, real_path: null, plan: null, skill: null },
        },
      },
      errors: ["not_found"],
    }).by(({ body, principal }) => guarded(principal, () => app.links.open(body.link))),
    serveOpenly(decideByLink, {
      tag: "Links",
      summary: "Decides the request of a one-time link",
      details:
        "The record names `link:NAME`, after the webhook that sent it. Whoever comes second is told who was first.",
      token: "none",
      body: { link: LINK, approve: true },
      answer: {
        says: "The decision, on disk; or who was first.",
        example: { type: "ok", approval_id: APPROVAL_ID, status: "allowed" },
      },
      errors: ["not_found"],
    }).by(({ body: { link, ...decision }, principal }) => guarded(principal, () => app.links.decide(link, decision))),
  ];
}

const LINK = `wXy3-aB9kQ0z.${"A".repeat(43)}`;
