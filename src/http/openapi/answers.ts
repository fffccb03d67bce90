import { z } from "zod";
import { Approval, ApprovalStatus, Decision, RespondResult } from "../../contract/approvals/approval.ts";
import { ApprovalContext } from "../../contract/approvals/approval-context.ts";
import { UnaskedCall } from "../../contract/approvals/unasked-call.ts";
import { AuditLine, AuditReport } from "../../contract/audit.ts";
import { ChangeEvent } from "../../contract/change.ts";
import { ErrorBody } from "../../contract/errors.ts";
import { LeftRunning } from "../../contract/sessions/left-running.ts";
import { CreateInput } from "../../contract/sessions/session.ts";
import { SessionDetail, SessionEvent, SessionSummary, TurnSummary } from "../../contract/sessions/session-view.ts";
import { TurnEvent, TurnStatus, Usage } from "../../contract/sessions/turn.ts";
import { Caller, SignedIn, SignInBody, SignInCode } from "../../contract/sign-in.ts";
import { Id, JsonObject, UnixSeconds } from "../../contract/values.ts";
import { Chat, Fork } from "../routes/sessions.ts";
import { NewToken } from "../routes/tokens.ts";

const ok = z.literal("ok");
/** Processes of the child that could not be ended; only where there are any. */
const left_running = z.array(LeftRunning).optional();
const head = SessionDetail.shape.head;
/** `cursor` begins the next page; it is `null` on the last one. */
const page = { has_more: z.boolean(), cursor: z.string().nullable() };
/** In the queue: 1 is next. */
const place = z.int().positive();
const NamedToken = z.strictObject({ id: Id, name: z.string(), created_at: UnixSeconds });
const Block = z.strictObject({ role: z.enum(["root", "user", "assistant"]), content: JsonObject });
const NumberedEvent = z.strictObject({ seq: z.int().nonnegative(), event: TurnEvent });

/** What requests carry: the very schemas that validate them. */
export const BODIES = {
  Decision,
  NewSession: CreateInput,
  Chat,
  Fork,
  NewToken,
  SignIn: SignInBody,
};
export type BodyName = keyof typeof BODIES;

/** What answers hold, by the name that the document gives it. */
export const ANSWERS = {
  Error: ErrorBody,
  Approval,
  ApprovalStatus,
  ApprovalContext,
  ApprovalContextAnswer: ApprovalContext.extend({ type: ok }),
  ApprovalList: z.strictObject({ type: ok, approvals: z.array(Approval), ...page }),
  OneApproval: z.strictObject({ type: ok, approval: Approval }),
  Decided: RespondResult,
  UnaskedCall,
  UnaskedCallList: z.strictObject({ type: ok, calls: z.array(UnaskedCall), ...page }),
  AuditReport,
  AuditLine,
  ChangeEvent,
  SessionSummary,
  SessionList: z.strictObject({ type: ok, sessions: z.array(SessionSummary), ...page }),
  SessionDetail,
  OneSession: z.strictObject({ type: ok, config: SessionDetail }),
  SessionCreated: z.strictObject({ type: z.literal("created"), id: Id, name: z.string(), head }),
  SessionDeleted: z.strictObject({ type: z.literal("deleted"), id: Id, left_running }),
  SessionForked: z.strictObject({ type: z.literal("forked"), id: Id, head }),
  TurnStarted: z.union([
    z.strictObject({ type: z.literal("started"), session_id: Id, turn_id: Id }),
    z.strictObject({ type: z.literal("queued"), session_id: Id, turn_id: Id, place }),
  ]),
  Usage,
  TurnAnswer: z.strictObject({
    type: ok,
    session_id: Id,
    turn_id: Id,
    status: TurnStatus,
    place: place.optional(),
    text: z.string(),
    error: z.string().nullable(),
    pending_approvals: z.array(Approval),
    usage: Usage.nullable(),
  }),
  Cancelled: z.strictObject({ type: z.enum(["cancelled", "not_running"]), session_id: Id, left_running }),
  Tree: z.strictObject({
    type: ok,
    tree_id: Id.nullable(),
    head,
    nodes: z.array(Block.extend({ id: Id, parent_id: Id.nullable() })),
    has_more: z.boolean(),
  }),
  Context: z.strictObject({ type: ok, messages: z.array(Block), has_more: z.boolean() }),
  TurnSummary,
  TurnList: z.strictObject({ type: ok, turns: z.array(TurnSummary), ...page }),
  OneTurn: z.strictObject({ type: ok, turn: TurnSummary }),
  TurnEvent,
  TurnEvents: z.strictObject({
    type: ok,
    turn_id: Id,
    status: TurnStatus,
    events: z.array(NumberedEvent),
    total_events: z.int(),
    has_more: z.boolean(),
  }),
  SessionEvent,
  NamedToken,
  TokenList: z.strictObject({ type: ok, tokens: z.array(NamedToken) }),
  TokenCreated: NamedToken.extend({ type: z.literal("created"), token: z.string() }),
  TokenRevoked: NamedToken.extend({ type: z.literal("revoked") }),
  PagesSignedOut: z.strictObject({ type: z.literal("signed_out"), pages: z.int() }),
  SignedIn,
  SignInCode,
  SignedOut: z.strictObject({ type: z.enum(["signed_out", "not_signed_in"]) }),
  Caller,
  Alive: z.strictObject({ status: ok }),
  Ready: z.union([
    z.strictObject({ status: z.literal("ready") }),
    z.strictObject({
      status: z.literal("ready"),
      version: z.string(),
      database: z.literal("writable"),
      claude: z.string().nullable(),
      claude_version: z.string().nullable(),
      warnings: z.array(z.string()),
    }),
  ]),
  OpenApi: z.looseObject({ openapi: z.literal("3.1.0") }),
};
export type AnswerName = keyof typeof ANSWERS;
