import type { Database } from "bun:sqlite";
import type { AuditChain } from "../../contract/audit.ts";
import type { ApprovalScope } from "../approvals.ts";
import type { Awaited, AwaitedQuery } from "../changes.ts";
import type { Storage } from "../storage.ts";
import type { ProgressQuery, SessionProgress } from "../turns.ts";
import { mcpClientCommands, signInCodeCommands, tokenCommands } from "./access/access-commands.ts";
import { mcpClientQueries } from "./access/mcp-clients.ts";
import { pushCommands, pushQueries } from "./access/push.ts";
import { signInCodeQueries } from "./access/sign-in-codes.ts";
import { tokenQueries } from "./access/tokens.ts";
import { activityQueries, activityStorageCommands } from "./activity/activity.ts";
import { approvalCommands } from "./approvals/approval-commands.ts";
import { approvalQueries } from "./approvals/approvals.ts";
import { decidedApprovalQueries } from "./approvals/decided-approvals.ts";
import { heldApprovalQueries } from "./approvals/held-approvals.ts";
import { largeApprovalQueries } from "./approvals/large-approvals.ts";
import { linkQueries } from "./approvals/links.ts";
import { createPendingBounds } from "./approvals/pending-bounds.ts";
import { pendingSizeQueries } from "./approvals/pending-sizes.ts";
import { createSettle } from "./approvals/settle.ts";
import { unchainedApprovalQueries } from "./approvals/unchained-approvals.ts";
import { usedApprovalQueries } from "./approvals/used-approvals.ts";
import { auditQueries } from "./audit/audit.ts";
import { createChain } from "./audit/chain.ts";
import { awaitedQueries } from "./events/awaited.ts";
import { changeQueries } from "./events/changes.ts";
import { readerCommands } from "./events/reader-commands.ts";
import { readerQueries } from "./events/readers.ts";
import { webhookQueries } from "./events/webhooks.ts";
import { createIds } from "./ids.ts";
import { pastQueries } from "./rules/past.ts";
import { ruleCommands } from "./rules/rule-commands.ts";
import { ruleQueries } from "./rules/rules.ts";
import { serverCommands } from "./servers.ts";
import { createConversation } from "./sessions/conversation.ts";
import { nodeQueries } from "./sessions/nodes.ts";
import { conversationCommands, sessionCommands } from "./sessions/session-commands.ts";
import { sessionQueries } from "./sessions/sessions.ts";
import { spaceQueries } from "./space.ts";
import type { Orm } from "./statements/orm.ts";
import { reads } from "./statements/reads.ts";
import { outputCommands } from "./turns/output-commands.ts";
import { turnCommands } from "./turns/turn-commands.ts";
import { createTurnQueue } from "./turns/turn-queue.ts";
import { turnQueries } from "./turns/turns.ts";
import { unaskedCallQueries } from "./turns/unasked-calls.ts";
import { figureQueries } from "./upkeep/figures.ts";
import { historySizeQueries } from "./upkeep/history-sizes.ts";
import type { Write } from "./writer.ts";

type EngineNeed = {
  sqlite: Database;
  orm: Orm;
  write: Write;
  path: string;
  now: () => number;
  isAlone: boolean;
  dataDirId: string;
};

/** Builds the storage interface's reads and commands from this engine's private queries. */
export function storageOn(given: EngineNeed): Omit<Storage, typeof Symbol.dispose> {
  const { sqlite, orm, write, path, now, isAlone, dataDirId } = given;
  const serverId = crypto.randomUUID();
  const [approvals, held, used] = [approvalQueries(orm), heldApprovalQueries(orm, isAlone), usedApprovalQueries(orm)];
  const [large, unchained] = [largeApprovalQueries(orm), unchainedApprovalQueries(orm)];
  const [audit, changes, webhooks] = [auditQueries(orm, sqlite), changeQueries(orm, sqlite), webhookQueries(orm)];
  const [sessions, nodes, turns] = [
    sessionQueries(orm, sqlite, isAlone),
    nodeQueries(orm),
    turnQueries(orm, dataDirId),
  ];
  const [tokens, codes, clients] = [tokenQueries(orm, sqlite, isAlone), signInCodeQueries(orm), mcpClientQueries(orm)];
  const [unaskedCalls, historySizes, space] = [
    unaskedCallQueries(orm),
    historySizeQueries(sqlite),
    spaceQueries(sqlite),
  ];
  const [readers, awaited, rules] = [readerQueries(orm), awaitedQueries(orm), ruleQueries(orm)];
  const [activity, past] = [activityQueries(orm), pastQueries(orm)];
  const [links, push] = [linkQueries(orm), pushQueries(orm)];
  const newId = createIds(sqlite, now);

  const chain = createChain({ audit, large });
  const bounds = createPendingBounds(pendingSizeQueries(sqlite));
  const settle = createSettle({ approvals, turns, changes, chain, activity, onSettled: bounds.loosen });
  const conversation = createConversation({ nodes, sessions, newId });
  const queue = createTurnQueue({ orm, turns, changes });
  const need = {
    ...{ write, approvals, held, used, unaskedCalls, chain, bounds, settle, serverId, now, isAlone, changes },
    ...{ turns, sessions, nodes, tokens, codes, clients, readers, rules, links, queue, conversation, newId, dataDirId },
    activity,
  };

  /** Reads that take several queries. Each runs without a pause, so it sees one moment. */
  const combined = {
    auditPage: (of: AuditChain, after: number, limit: number) => ({
      rows: audit.page(of, after, limit),
      forgottenThrough: audit.checkpoint(of)?.seq ?? -1,
    }),
    auditSize: () => audit.length("decisions") + audit.length("builtin") + audit.countUnchained(),
    awaited: (scope: ApprovalScope, query: AwaitedQuery): Awaited => {
      const pending = approvals.listPending(scope, query.maxPending, query.skip);
      const isPending = pending.rows.length > 0 || approvals.listPending(scope, 1).rows.length > 0;
      return {
        newestId: changes.newestId(),
        pending,
        ended: awaited.ended(scope, query.ended),
        ongoing: awaited.ongoing(scope, query.maxOngoing),
        mayAsk: isPending || awaited.isAnySeen(scope, query.seenSince),
      };
    },
    progress: (sessionId: string, { consumer, fromSeq, maxPending, ...page }: ProgressQuery): SessionProgress => {
      const turn = turns.latest(sessionId);
      const pending = approvals.listPending({ sessionId }, maxPending);
      if (!turn) return { turn, pending, position: 0, events: [] };
      const position = turns.position(turn.id, consumer);
      return { turn, pending, position, events: turns.eventPage(turn.id, fromSeq ?? position, page) };
    },
  };
  const promised = reads(combined, "auditPage", "auditSize", "awaited", "progress");

  return {
    activity: {
      ...reads(activity, "sums", "sessions", "present", "budgets"),
      ...activityStorageCommands(write, activity),
    },
    approvals: {
      ...reads(approvals, "get", "head", "listPending", "list", "countPending", "pendingIds", "pendingIdsOf"),
      ...reads(approvals, "nextDeadline", "edit"),
      ...reads(decidedApprovalQueries(orm, approvals), "listDecided"),
      ...reads(used, "interruption"),
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
      ...reads(awaited, "ended"),
      awaited: promised.awaited,
      removeBefore: (before, limit) => write(() => changes.removeBefore(before, limit)),
    },
    conversations: { ...reads(nodes, "node", "listTree", "path", "treeAfter"), ...conversationCommands(need) },
    figures: reads(figureQueries(orm, path), "pending", "running", "queued", "databaseBytes", "logBytes"),
    history: {
      ...reads(historySizes, "endedTurns", "largeInputs", "unchainedInputs", "endOfTurns", "endOfInputs"),
      ...reads(unchained, "oldestUnchainedAt"),
      // Returning space needs no transaction around it.
      ...reads(space, "usedBytes", "giveBackSome"),
      removeTurnsEndedBefore: (before, limit) => write(() => turns.removeEndedBefore(before, limit)),
      removeTurnsOfOwnerEndedBefore: (owner, before, limit) =>
        write(() => turns.removeEndedOfOwner(owner, before, limit)),
      removeUnchainedBefore: (before, limit) => write(() => unchained.removeUnchainedBefore(before, limit)),
    },
    links: {
      ...reads(links, "get"),
      createIfPending: (link, before) =>
        write(() => {
          links.removeExpiredBefore(before);
          if (approvals.head(link.approvalId)?.status !== "pending") return false;
          links.createIfNew(link);
          return true;
        }),
      keepOnly: (webhookIds) => write(() => links.removeAllBut(webhookIds)),
    },
    mcpClients: { ...reads(clients, "get"), ...mcpClientCommands(need) },
    past: {
      ...reads(past, "list", "inputs"),
      keepOutlines: (outlines) => write(() => past.keepOutlines(outlines)),
    },
    push: { ...reads(push, "list", "untold"), ...pushCommands({ write, push, tokens }) },
    readers: { ...reads(readers, "standing"), ...readerCommands(need) },
    rules: { ...reads(rules, "book", "version", "get", "hits", "shadowHits"), ...ruleCommands(need) },
    servers: serverCommands({ orm, write, serverId, now, isAlone }),
    sessions: {
      ...reads({ get: sessions.remembered }, "get"),
      ...reads(sessions, "find", "named", "names", "listed", "list"),
      ...sessionCommands(need),
    },
    signInCodes: signInCodeCommands(need),
    tokens: { ...reads(tokens, "get", "findNamed", "listNamed", "missing"), ...tokenCommands(need) },
    turns: {
      ...reads(
        turns,
        "get",
        "running",
        "latest",
        "firstAfter",
        "listRunning",
        "list",
        "events",
        "eventPage",
        "eventsBefore",
      ),
      ...reads(
        turns,
        "wordsBefore",
        "shortEvents",
        "toolUsesBefore",
        "toolUse",
        "checkpoint",
        "position",
        "stopsAskedFor",
        "queuedPrompt",
      ),
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
    // Only a commit shows whether the disk is full.
    ...reads({ assertWritable: () => void sqlite.run("PRAGMA user_version = 0") }, "assertWritable"),
  };
}
