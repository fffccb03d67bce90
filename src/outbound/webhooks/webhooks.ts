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
/** What became of attempts, and of events that were given up. */
type WebhookOutcome = DeliveryOutcome | "dropped";

const PAGE = 50;
const MAX_REFUSALS = 5;
const MAX_RETRY_MS = 5 * 60_000;
/** What is older helps nobody any more. */
const STALE_AFTER_MS = 24 * 60 * 60_000;
/** A post that is under way when we stop would otherwise be sent again by the next server. */
const STOP_WITHIN_MS = 2_000;

type Hook = {
  /** Under which its position is stored. */
  id: string;
  /** The address can't be found from this one. */
  publicId: string;
  webhook: Webhook;
  host: string;
  /** The change that it was told of last, or that was passed over. */
  position: number;
  failures: number;
  isGone: boolean;
  last: WebhookStatus["last"];
  /** The test that is under way. */
  testing: Promise<Delivery> | undefined;
  bell: ReturnType<typeof createBell>;
};

type WebhooksNeed = {
  storage: Pick<Storage, "approvals" | "changes" | "links" | "sessions" | "turns" | "unaskedCalls" | "webhooks">;
  broadcast: Broadcast;
  /** Adds to the event of a request what helps to decide it. */
  withContext: (event: ChangeEvent) => Promise<ChangeEvent>;
  now: () => number;
  webhooks: Webhook[];
  links: LinkMaker;
  /** Asked for only where there is a webhook. */
  secret: () => string;
  /** Where people reach the page. */
  pageUrl: () => string;
  /** After the first failure; each further one doubles it. */
  firstRetryMs: number;
  report: (message: string, fields: Record<string, unknown>) => void;
};

/**
 * Posts what happens to each webhook, in order, one after the other, at least once. What is still to be told is in the
 * database, and so is how far each has been told: neither a restart nor a receiver that is away loses anything, and
 * nothing that waits takes memory.
 */
export async function openWebhooks(need: WebhooksNeed) {
  const { storage, broadcast, now, report } = need;
  const counts: Record<WebhookOutcome, number> = { delivered: 0, failed: 0, refused: 0, gone: 0, dropped: 0 };
  const newest = await storage.changes.newestId();
  const known = await storage.webhooks.positions();
  const hooks = [...new Map(need.webhooks.map((webhook) => [webhook.url, webhook])).values()].map((webhook): Hook => {
    const id = createHash("sha256").update(webhook.url).digest("hex");
    // The address may be a secret; its host says enough.
    const { host } = new URL(webhook.url);
    const state = { position: startOf(id), failures: 0, isGone: false, last: null, testing: undefined };
    return { id, publicId: randomUUID(), webhook, host, ...state, bell: createBell() };
  });
  const secret = hooks.length > 0 ? need.secret() : "";
  const stopping = new AbortController();
  const cutOff = new AbortController();
  // Before anything is read: what is committed behind a read rings for the next one.
  const listening = broadcast.listen(ring);

  /** A position of another database's future has seen nothing of this one's. */
  function startOf(id: string): number {
    return Math.min(known.find((webhook) => webhook.id === id)?.position ?? newest, newest);
  }

  function ring(): void {
    for (const { bell } of hooks) bell.ring();
  }

  /** Resolves when the time is up, and when we stop. */
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

  /** Moves on behind this change, whether it was told or is not to be; `false` when it is still to be told. */
  async function pass(hook: Hook, change: Change): Promise<boolean> {
    const isTold = hook.webhook.events.some((kind) => kind === change.kind);
    const event = isTold ? await readChange(storage, change) : undefined;
    if (event && isToldEvent(event) && !(await tell(hook, change, event))) return false;
    hook.position = change.id;
    if (event) await storage.webhooks.setPosition({ id: hook.id, position: change.id });
    return true;
  }

  /** What is posted of an event: itself, signed, or a message as the service takes it. */
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

  /** The link that decides a request, where the operator wants one. A question wants an answer, which no link gives. */
  async function linkFor(webhook: Webhook, event: ToldEvent): Promise<string | undefined> {
    const sender = senderOf(webhook);
    if (!sender || event.type !== "approval_requested" || event.tool_name === "AskUserQuestion") return undefined;
    const link = await need.links.make(sender, event.approval_id);
    return link === undefined ? undefined : `${need.pageUrl()}${LINK_PATH}#${link}`;
  }

  /** A person has nothing to do about a request that was decided meanwhile; a program may want to know all. */
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

  /** Apart from what is still to be told, which goes on as before. */
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

  /** Between half of it and all, so that receivers that fail together are not called together. */
  function backOff(failures: number): number {
    return Math.min(need.firstRetryMs * 2 ** failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
  }

  /** One that is no longer named is forgotten: if it comes back, it begins with what happens then. */
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
    /** As they are configured, and how each was last told of something. */
    async list(): Promise<WebhookStatus[]> {
      const newest = hooks.length === 0 ? 0 : await storage.changes.newestId();
      return hooks.map(({ publicId: id, webhook, host, position, last }) => {
        const { name, format, events, decide = null } = webhook;
        return { id, name, host, format, events, decide, behind: Math.max(0, newest - position), last };
      });
    },
    /** Sends a test message; whoever asks meanwhile gets the same answer. */
    async test(id: string): Promise<Delivery> {
      const hook = hooks.find(({ publicId }) => publicId === id);
      if (!hook) throw new AppError("not_found", "There is no such webhook; ids change when the server is started.");
      hook.testing ??= test(hook).finally(() => {
        hook.testing = undefined;
      });
      return hook.testing;
    },
    /** Those that take nothing at present. */
    failing: (): { host: string; is_gone: boolean }[] =>
      hooks
        .filter(({ failures, isGone }) => failures > 0 || isGone)
        .map(({ host, isGone }) => ({ host, is_gone: isGone })),
    gone: (): number => hooks.filter(({ isGone }) => isGone).length,
    /** How many changes the one that is furthest behind has still to be told of, or passed over. */
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

/** Those whose links count. What a link may decide is part of who sends it, so that less is allowed from the next start. */
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
