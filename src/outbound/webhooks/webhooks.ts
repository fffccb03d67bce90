import { createHash, randomUUID } from "node:crypto";
import type { Change, ChangeEvent } from "../../contract/change.ts";
import { LINK_PATH } from "../../contract/link.ts";
import { AppError } from "../../contract/refusals/errors.ts";
import type { Delivery, DeliveryOutcome, WebhookStatus } from "../../contract/routes/webhooks.ts";
import { cutChange } from "../../contract/text/cut.ts";
import { seconds } from "../../contract/values.ts";
import { ToldKind, type Webhook } from "../../contract/webhook.ts";
import type { LinkMaker, LinkSender } from "../../core/approvals/links/link-maker.ts";
import { createBell } from "../../core/events/bell.ts";
import type { Broadcast } from "../../core/events/broadcast.ts";
import { readChange } from "../../core/events/change-view.ts";
import type { Storage } from "../../storage/storage.ts";
import { written } from "./formats/formats.ts";
import { messageOf, type ToldEvent, testMessage } from "./message.ts";
import { post } from "./post.ts";

export type Webhooks = Awaited<ReturnType<typeof openWebhooks>>;
/** The outcome of attempts, and of events that were given up. */
type WebhookOutcome = DeliveryOutcome | "dropped";

const PAGE = 50;
const MAX_REFUSALS = 5;
const MAX_RETRY_MS = 5 * 60_000;
/** Older events are dropped, because they no longer help anyone. */
const STALE_AFTER_MS = 24 * 60 * 60_000;
/** How long a stopping server waits for posts under way: the next server would send them again. */
const STOP_WITHIN_MS = 2_000;

type Hook = {
  /** The id under which the position is stored. */
  id: string;
  /** An id that does not reveal the address. */
  publicId: string;
  webhook: Webhook;
  host: string;
  /** The last change that was delivered or skipped. */
  position: number;
  failures: number;
  isGone: boolean;
  last: WebhookStatus["last"];
  /** The test under way. */
  testing: Promise<Delivery> | undefined;
  bell: ReturnType<typeof createBell>;
};

type WebhooksNeed = {
  storage: Pick<Storage, "approvals" | "changes" | "links" | "sessions" | "turns" | "unaskedCalls" | "webhooks">;
  broadcast: Broadcast;
  /** Adds the context that helps to decide to the event of a request. */
  withContext: (event: ChangeEvent) => Promise<ChangeEvent>;
  now: () => number;
  webhooks: Webhook[];
  links: LinkMaker;
  /** Called only if there is a webhook. */
  secret: () => string;
  /** The address of the page. */
  pageUrl: () => string;
  /** The pause after the first failure; each further failure doubles it. */
  firstRetryMs: number;
  report: (message: string, fields: Record<string, unknown>) => void;
};

/**
 * Posts events to each webhook: in order, one by one, at least once. The database holds the events and each webhook's
 * position. So neither a restart nor an absent receiver loses anything, and waiting events take no memory.
 */
export async function openWebhooks(need: WebhooksNeed) {
  const { storage, broadcast, now, report } = need;
  const counts: Record<WebhookOutcome, number> = { delivered: 0, failed: 0, refused: 0, gone: 0, dropped: 0 };
  const newest = await storage.changes.newestId();
  const known = await storage.webhooks.positions();
  const hooks = [...new Map(need.webhooks.map((webhook) => [webhook.url, webhook])).values()].map((webhook): Hook => {
    const id = createHash("sha256").update(webhook.url).digest("hex");
    // The address may be a secret, so reports only name its host.
    const { host } = new URL(webhook.url);
    const state = { position: startOf(id), failures: 0, isGone: false, last: null, testing: undefined };
    return { id, publicId: randomUUID(), webhook, host, ...state, bell: createBell() };
  });
  const secret = hooks.length > 0 ? need.secret() : "";
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Listen before the first read, so that a change committed after it rings the bell.
  const listening = broadcast.listen(ring);

  /** A position beyond the newest change comes from another database, so start at the newest change. */
  function startOf(id: string): number {
    return Math.min(known.find((webhook) => webhook.id === id)?.position ?? newest, newest);
  }

  function ring(): void {
    for (const { bell } of hooks) bell.ring();
  }

  /** Resolves when the time is up or the server stops. */
  async function pause(ms: number): Promise<void> {
    if (stopping.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const timer = setTimeout(resolve, ms);
    stopping.signal.addEventListener("abort", resolve);
    await promise;
    clearTimeout(timer);
    stopping.signal.removeEventListener("abort", resolve);
  }

  async function follow(hook: Hook): Promise<void> {
    while (!stopping.signal.aborted && !hook.isGone) {
      try {
        const page = await storage.changes.listAfter(hook.position, undefined, PAGE);
        for (const change of page) if (!(await pass(hook, change))) break;
        if (page.length === 0) await hook.bell.woken();
      } catch (cause) {
        report("a webhook could not be told", { host: hook.host, error: String(cause) });
        await pause(need.firstRetryMs);
      }
    }
  }

  /** Delivers or skips this change and moves on; `false` if it is still to be delivered. */
  async function pass(hook: Hook, change: Change): Promise<boolean> {
    const isTold = hook.webhook.events.some((kind) => kind === change.kind);
    const event = isTold ? await readChange(storage, change) : undefined;
    if (event && isToldEvent(event) && !(await tell(hook, change, event))) return false;
    hook.position = change.id;
    if (event) await storage.webhooks.setPosition({ id: hook.id, position: change.id });
    return true;
  }

  /** The body for an event: the signed event itself, or a message in the service's format. */
  async function writtenFor({ webhook }: Hook, { id }: Change, event: ToldEvent) {
    const told = await need.withContext(event);
    const decideUrl = await linkFor(webhook, event);
    const { format, url } = webhook;
    if (format === "plexus" || !isToldEvent(told)) {
      const body = { id, ...cutChange(told), ...(decideUrl !== undefined && { decide_url: decideUrl }) };
      return { url, secret, body: JSON.stringify(body) };
    }
    const message = messageOf({ event: told, pageUrl: need.pageUrl(), decideUrl, now: now() });
    return { ...written(webhook, format, message), secret: undefined };
  }

  /**
   * The link that decides a request, if the operator enabled it. Questions get no link, because it can't carry an
   * answer.
   */
  async function linkFor(webhook: Webhook, event: ToldEvent): Promise<string | undefined> {
    const sender = senderOf(webhook);
    if (!sender || event.type !== "approval_requested" || event.tool_name === "AskUserQuestion") return undefined;
    const link = await need.links.make(sender, event.approval_id);
    return link === undefined ? undefined : `${need.pageUrl()}${LINK_PATH}#${link}`;
  }

  /** People need no message about a request that was decided meanwhile. Programs may want every event. */
  async function isMoot({ webhook }: Hook, event: ToldEvent): Promise<boolean> {
    if (webhook.format === "plexus" || event.type !== "approval_requested") return false;
    return (await storage.approvals.head(event.approval_id))?.status !== "pending";
  }

  async function tell(hook: Hook, change: Change, event: ToldEvent): Promise<boolean> {
    const message = await writtenFor(hook, change, event);
    for (let refusals = 0; !stopping.signal.aborted; ) {
      if (now() - change.at > STALE_AFTER_MS) return drop(hook, change, "it is more than a day old");
      if (await isMoot(hook, event)) return true;
      const { delivery, notBeforeMs } = await post({ ...message, now, signal: cutOff.signal });
      if (cutOff.signal.aborted) return false;
      counts[delivery.outcome]++;
      note(hook, delivery, false);
      if (delivery.outcome === "delivered") {
        hook.failures = 0;
        return true;
      }
      if (delivery.outcome === "gone") {
        hook.isGone = true;
        report("a webhook answered 410: it is told nothing more until the next start", { host: hook.host });
        return false;
      }
      if (delivery.outcome === "refused" && ++refusals === MAX_REFUSALS) return drop(hook, change, "it was refused");
      if (hook.failures === 0) report("a webhook does not take what it is told: trying again", { host: hook.host });
      await pause(Math.max(backOff(hook.failures++), Math.min(notBeforeMs, MAX_RETRY_MS)));
    }
    return false;
  }

  function note(hook: Hook, delivery: Delivery, is_test: boolean): void {
    hook.last = { ...delivery, at: seconds(now()), is_test };
  }

  /** Sends a test message apart from the waiting events. */
  async function test(hook: Hook): Promise<Delivery> {
    const { webhook } = hook;
    const { url, format } = webhook;
    const message =
      format === "plexus"
        ? { url, secret, body: JSON.stringify({ type: "test", at: seconds(now()) }) }
        : { ...written(webhook, format, testMessage(need.pageUrl())), secret: undefined };
    const { delivery } = await post({ ...message, now, signal: cutOff.signal });
    note(hook, delivery, true);
    return delivery;
  }

  function drop(hook: Hook, { id, kind }: Change, reason: string): true {
    counts.dropped++;
    report(`a webhook was not told of something: ${reason}`, { host: hook.host, id, kind });
    return true;
  }

  /** Jitter between half and all of the pause, so that receivers that fail together are not retried together. */
  function backOff(failures: number): number {
    return Math.min(need.firstRetryMs * 2 ** failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
  }

  /** Forgets webhooks that are no longer configured: if one comes back, it starts with new events. */
  async function remember(): Promise<void> {
    if (hooks.length === 0 && known.length === 0) return;
    await storage.links.keepOnly(sendersOf(need.webhooks).map(({ id }) => id));
    await storage.webhooks.replaceAll(hooks.map(({ id, position }) => ({ id, position })));
  }

  const started = remember().catch((cause) =>
    report("the positions of webhooks could not be stored", { error: String(cause) }),
  );
  const following = hooks.map(follow);
  return {
    counts,
    pageUrl: need.pageUrl,
    /** The configured webhooks with their last delivery. */
    async list(): Promise<WebhookStatus[]> {
      const newest = hooks.length === 0 ? 0 : await storage.changes.newestId();
      return hooks.map(({ publicId: id, webhook, host, position, last }) => {
        const { name, format, events, decide = null } = webhook;
        return { id, name, host, format, events, decide, behind: Math.max(0, newest - position), last };
      });
    },
    /** Sends a test message. Concurrent callers share its result. */
    async test(id: string): Promise<Delivery> {
      const hook = hooks.find(({ publicId }) => publicId === id);
      if (!hook) throw new AppError("not_found", "There is no such webhook; ids change when the server is started.");
      hook.testing ??= test(hook).finally(() => {
        hook.testing = undefined;
      });
      return hook.testing;
    },
    /** The webhooks that accept nothing at present. */
    failing: (): { host: string; is_gone: boolean }[] =>
      hooks
        .filter(({ failures, isGone }) => failures > 0 || isGone)
        .map(({ host, isGone }) => ({ host, is_gone: isGone })),
    gone: (): number => hooks.filter(({ isGone }) => isGone).length,
    /** How many changes the slowest webhook still has to deliver or skip. */
    behind: async (): Promise<number> => {
      const last = await storage.changes.newestId();
      return Math.max(0, ...hooks.filter(({ isGone }) => !isGone).map(({ position }) => last - position));
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      ring();
      listening[Symbol.dispose]();
      const timer = setTimeout(() => cutOff.abort(), STOP_WITHIN_MS);
      await Promise.all([started, ...following]);
      clearTimeout(timer);
    },
  };
}

/**
 * The senders whose links are valid. The id includes what a link may decide, so that a reduced permission applies from
 * the next start.
 */
export function sendersOf(webhooks: Webhook[]): LinkSender[] {
  return webhooks.flatMap((webhook) => senderOf(webhook) ?? []);
}

function senderOf({ url, name, decide: verdict }: Webhook): LinkSender | undefined {
  if (verdict === undefined) return undefined;
  return { id: createHash("sha256").update(`${verdict} ${url}`).digest("hex"), name, verdict };
}

function isToldEvent(event: ChangeEvent): event is ToldEvent {
  return ToldKind.safeParse(event.type).success;
}
