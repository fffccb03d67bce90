import type { Database } from "bun:sqlite";
import type { AuditChain } from "../../contract/audit.ts";
import type { ApprovalScope } from "../approvals.ts";
import type { AwaitedQuery } from "../changes.ts";
import type { Storage } from "../storage.ts";
import type { ProgressQuery, SessionProgress } from "../turns.ts";
import { mcpClientCommands, signInCodeCommands, tokenCommands } from "./access/access-commands.ts";
import { mcpClientQueries } from "./access/mcp-clients.ts";
import { signInCodeQueries } from "./access/sign-in-codes.ts";
import { tokenQueries } from "./access/tokens.ts";
import { approvalCommands } from "./approvals/approval-commands.ts";
import { approvalQueries } from "./approvals/approvals.ts";
import { heldApprovalQueries } from "./approvals/held-approvals.ts";
import { largeApprovalQueries } from "./approvals/large-approvals.ts";
import { createPendingBounds } from "./approvals/pending-bounds.ts";
import { pendingSizeQueries } from "./approvals/pending-sizes.ts";
import { createSettle } from "./approvals/settle.ts";
import { unchainedApprovalQueries } from "./approvals/unchained-approvals.ts";
import { usedApprovalQueries } from "./approvals/used-approvals.ts";
import { auditQueries } from "./audit/audit.ts";
import { createChain } from "./audit/chain.ts";
import type { Orm } from "./database.ts";
import { changeQueries } from "./events/changes.ts";
import { webhookQueries } from "./events/webhooks.ts";
import { createIds } from "./ids.ts";
import { reads } from "./reads.ts";
import { createConversation } from "./sessions/conversation.ts";
import { nodeQueries } from "./sessions/nodes.ts";
import { conversationCommands, sessionCommands } from "./sessions/session-commands.ts";
import { sessionQueries } from "./sessions/sessions.ts";
import { spaceQueries } from "./space.ts";
import { outputCommands } from "./turns/output-commands.ts";
import { turnCommands } from "./turns/turn-commands.ts";
import { createTurnQueue } from "./turns/turn-queue.ts";
import { turnQueries } from "./turns/turns.ts";
import { unaskedCallQueries } from "./turns/unasked-calls.ts";
import { figureQueries } from "./upkeep/figures.ts";
import { historySizeQueries } from "./upkeep/history-sizes.ts";
import type { Write } from "./writer.ts";

type EngineNeed = { sqlite: Database; orm: Orm; write: Write; path: string; now: () => number };

/** The queries of this engine, which are private to it, and the reads and commands that are made of them. */
export function storageOn({ sqlite, orm, write, path, now }: EngineNeed): Omit<Storage, typeof Symbol.dispose> {
  const [approvals, held, used] = [approvalQueries(orm), heldApprovalQueries(orm), usedApprovalQueries(orm)];
  const [large, unchained] = [largeApprovalQueries(orm), unchainedApprovalQueries(orm)];
  const [audit, changes, webhooks] = [auditQueries(orm, sqlite), changeQueries(orm, sqlite), webhookQueries(orm)];
  const [sessions, nodes, turns] = [sessionQueries(orm), nodeQueries(orm), turnQueries(orm)];
  const [tokens, codes, clients] = [tokenQueries(orm), signInCodeQueries(orm), mcpClientQueries(orm)];
  const [unaskedCalls, historySizes, space] = [
    unaskedCallQueries(orm),
    historySizeQueries(sqlite),
    spaceQueries(sqlite),
  ];
  const newId = createIds(sqlite, now);
  const instance = crypto.randomUUID();

  const chain = createChain({ audit, large });
  const bounds = createPendingBounds(pendingSizeQueries(sqlite));
  const settle = createSettle({ approvals, turns, changes, chain, onSettled: bounds.loosen });
  const conversation = createConversation({ nodes, sessions, newId });
  const queue = createTurnQueue({ orm, turns, changes });
  const need = {
    ...{ write, approvals, held, used, unaskedCalls, chain, bounds, settle, instance, changes },
    ...{ turns, sessions, nodes, tokens, codes, clients, queue, conversation, newId },
  };

  /** What takes more than one query is one read all the same: it finds what stands at one moment. */
  const combined = {
    auditPage: (of: AuditChain, after: number, limit: number) => ({
      rows: audit.page(of, after, limit),
      forgottenThrough: audit.checkpoint(of)?.seq ?? -1,
    }),
    auditSize: () => audit.length("decisions") + audit.length("builtin") + audit.countUnchained(),
    awaited: (scope: ApprovalScope, { since, maxPending, maxEnded }: AwaitedQuery) => ({
      newestId: changes.newestId(),
      pending: approvals.listPending(scope, maxPending),
      ended: changes.turnsEndedAfter(since, scope, maxEnded),
    }),
    progress: (sessionId: string, { consumer, fromSeq, limit, maxPending }: ProgressQuery): SessionProgress => {
      const turn = turns.latest(sessionId);
      const pending = approvals.listPending({ sessionId }, maxPending);
      if (!turn) return { turn, pending, position: 0, events: [] };
      const position = turns.position(turn.id, consumer);
      return { turn, pending, position, events: turns.events(turn.id, fromSeq ?? position, limit) };
    },
  };
  const promised = reads(combined, "auditPage", "auditSize", "awaited", "progress");

  return {
    approvals: {
      ...reads(approvals, "get", "head", "listPending", "list", "countPending", "pendingIds", "pendingIdsOf"),
      ...reads(approvals, "nextDeadline"),
      ...approvalCommands(need),
    },
    audit: {
      ...reads(audit, "checkpoint", "oldestAt", "decided", "placeOf"),
      page: promised.auditPage,
      size: promised.auditSize,
      begin: (at) => write(() => chain.begin(at)),
      forgetBefore: (of, before, limit, at) => write(() => chain.forgetBefore(of, before, limit, at)),
      cutInputs: (owner, before, limit, at) => write(() => chain.cutInputs(owner, before, limit, at)),
    },
    changes: {
      ...reads(changes, "newestId", "oldestAt", "listAfter"),
      awaited: promised.awaited,
      removeBefore: (before, limit) => write(() => changes.removeBefore(before, limit)),
    },
    conversations: { ...reads(nodes, "listTree", "path", "treeAfter"), ...conversationCommands(need) },
    figures: reads(figureQueries(orm, path), "pending", "running", "queued", "databaseBytes", "logBytes"),
    history: {
      ...reads(historySizes, "endedTurns", "largeInputs", "unchainedInputs", "endOfTurns", "endOfInputs"),
      ...reads(unchained, "oldestUnchainedAt"),
      // To give space back takes no transaction around it.
      ...reads(space, "usedBytes", "giveBackSome"),
      removeTurnsEndedBefore: (before, limit) => write(() => turns.removeEndedBefore(before, limit)),
      removeTurnsOfOwnerEndedBefore: (owner, before, limit) =>
        write(() => turns.removeEndedOfOwner(owner, before, limit)),
      removeUnchainedBefore: (before, limit) => write(() => unchained.removeUnchainedBefore(before, limit)),
    },
    mcpClients: { ...reads(clients, "get"), ...mcpClientCommands(need) },
    sessions: { ...reads(sessions, "get", "find", "listed", "list"), ...sessionCommands(need) },
    signInCodes: signInCodeCommands(need),
    tokens: { ...reads(tokens, "get", "findNamed", "listNamed"), ...tokenCommands(need) },
    turns: {
      ...reads(turns, "get", "running", "latest", "firstAfter", "listRunning", "list", "events", "eventPage"),
      ...reads(turns, "toolUse", "checkpoint", "position"),
      ...reads({ queueState: queue.state }, "queueState"),
      progress: promised.progress,
      ...turnCommands(need),
      ...outputCommands(need),
    },
    unaskedCalls: reads(unaskedCalls, "get", "list"),
    webhooks: {
      ...reads(webhooks, "positions"),
      setPosition: (webhook) => write(() => webhooks.setPosition(webhook)),
      replaceAll: (positions) => write(() => webhooks.replaceAll(positions)),
    },
    newId,
    // Only a commit finds out that the disk is full.
    ...reads({ assertWritable: () => void sqlite.run("PRAGMA user_version = 0") }, "assertWritable"),
  };
}
