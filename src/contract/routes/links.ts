import { RespondResult } from "../approvals/decision.ts";
import { LinkBody, LinkDecisionBody, OpenedLink } from "../link.ts";
import { route } from "./declaration/route.ts";

export const openLink = route("POST", "/api/v1/links/open", { body: LinkBody, answer: OpenedLink });
export const decideByLink = route("POST", "/api/v1/links/decide", { body: LinkDecisionBody, answer: RespondResult });
