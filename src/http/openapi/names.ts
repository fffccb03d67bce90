import { z } from "zod";
import { Approval, ApprovalStatus, WaitInput } from "../../contract/approvals/approval.ts";
import { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import { BatchResult, Decision, DecisionBatch, RespondResult } from "../../contract/approvals/decision.ts";
import { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import { AuditLine, AuditReport } from "../../contract/audit.ts";
import { ChangeEvent } from "../../contract/change.ts";
import { LinkBody, LinkDecisionBody, OpenedLink } from "../../contract/link.ts";
import { PushSubscriptionBody } from "../../contract/push.ts";
import { ErrorBody } from "../../contract/refusals/errors.ts";
import * as approvals from "../../contract/routes/approvals.ts";
import * as audit from "../../contract/routes/audit.ts";
import type { Route } from "../../contract/routes/declaration/route.ts";
import * as demo from "../../contract/routes/demo.ts";
import * as events from "../../contract/routes/events.ts";
import * as links from "../../contract/routes/links.ts";
import * as push from "../../contract/routes/push.ts";
import * as rules from "../../contract/routes/rules.ts";
import * as server from "../../contract/routes/server.ts";
import * as sessions from "../../contract/routes/sessions.ts";
import * as signIn from "../../contract/routes/sign-in.ts";
import * as statistics from "../../contract/routes/statistics.ts";
import * as tokens from "../../contract/routes/tokens.ts";
import * as turns from "../../contract/routes/turns.ts";
import * as unaskedCalls from "../../contract/routes/unasked-calls.ts";
import * as wait from "../../contract/routes/wait.ts";
import * as webhooks from "../../contract/routes/webhooks.ts";
import * as ruleAnswers from "../../contract/rules/answers.ts";
import { RuleTestInput } from "../../contract/rules/history-test.ts";
import { Rule, RuleInput, RuleUpdate } from "../../contract/rules/rule.ts";
import * as sessionAnswers from "../../contract/sessions/answers.ts";
import { RunBody, SettingsUpdate } from "../../contract/sessions/run-input.ts";
import { CreateInput } from "../../contract/sessions/session.ts";
import { SessionDetail, SessionEvent, SessionSummary, TurnSummary } from "../../contract/sessions/session-view.ts";
import { TranscriptHit } from "../../contract/sessions/transcript-hit.ts";
import { TurnEvent, Usage } from "../../contract/sessions/turn.ts";
import { Caller, SignedIn, SignInBody, SignInCode } from "../../contract/sign-in.ts";
import { Attention, Statistics } from "../../contract/statistics.ts";
import { Finished, Running, Waited } from "../../contract/tools/wait-answers.ts";

/** The exports of contract/routes, and the answers that routes and tools share. */
const DECLARED = {
  ...approvals,
  ...unaskedCalls,
  ...rules,
  ...audit,
  ...sessionAnswers,
  ...sessions,
  ...turns,
  ...demo,
  ...events,
  ...wait,
  ...statistics,
  ...tokens,
  ...webhooks,
  ...push,
  ...signIn,
  ...links,
  ...server,
};

/** Schemas of other modules that the document refers to by name. */
const SHARED = {
  Error: ErrorBody,
  Approval,
  ApprovalStatus,
  ApprovalContext,
  Decision,
  DecisionBatch,
  Decided: RespondResult,
  BatchResult,
  UnaskedCall,
  Rule,
  NewRule: RuleInput,
  RuleUpdate,
  RuleTest: RuleTestInput,
  ...ruleAnswers,
  AuditReport,
  AuditLine,
  ChangeEvent,
  NewSession: CreateInput,
  SettingsUpdate,
  Run: RunBody,
  SessionSummary,
  SessionDetail,
  SessionEvent,
  TranscriptHit,
  TurnSummary,
  TurnEvent,
  Usage,
  SignIn: SignInBody,
  SignedIn,
  SignInCode,
  Caller,
  Statistics,
  Attention,
  Link: LinkBody,
  LinkDecision: LinkDecisionBody,
  OpenedLink,
  PushSubscription: PushSubscriptionBody,
  WaitFor: WaitInput,
  Waited,
  Finished,
  Running,
};

/** Every named schema of the document, under its export name. */
export const SCHEMAS: [name: string, schema: z.ZodType][] = Object.entries({ ...SHARED, ...DECLARED }).flatMap(
  ([name, value]) => (value instanceof z.ZodType ? [[name, value]] : []),
);

/** Returns the id of an operation, which is its route's export name. */
export function operationId(route: Route): string {
  return nameIn(Object.entries(DECLARED), route);
}

export function schemaName(schema: z.ZodType): string {
  return nameIn(SCHEMAS, schema);
}

function nameIn(entries: [string, unknown][], wanted: unknown): string {
  const name = entries.find(([, value]) => value === wanted)?.[0];
  if (name === undefined) throw new Error("A route or a schema that is served is not among the names of the document.");
  return name;
}
