import { deliveryWords } from "../../client/words/delivery-words.ts";
import type { Config } from "../../config.ts";
import { Refused } from "../../contract/refusals/refused.ts";
import { getPush, type PushSubscriptionStatus } from "../../contract/routes/push.ts";
import { listWebhooks, type WebhookStatus } from "../../contract/routes/webhooks.ts";
import { duration } from "../../contract/text/duration.ts";
import { isPrivateHost } from "../../contract/url.ts";
import { openApi } from "../server/server-client.ts";
import { type Finding, skipped } from "./finding.ts";

const CONNECTED_WITHIN_MS = 4_000;

/** Each webhook of the running server; nothing where there is none, or where the caller is not the operator. */
export async function lookAtWebhooks(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const api = await openApi(config, signal);
  try {
    const { webhooks, page_url } = await api.call(listWebhooks);
    return await Promise.all(webhooks.map((webhook) => findingOf(webhook, page_url)));
  } catch (cause) {
    if (cause instanceof Refused && cause.status === 403) return [];
    throw cause;
  }
}

async function findingOf(webhook: WebhookStatus, pageUrl: string): Promise<Finding> {
  const { name, format, host, last } = webhook;
  const step = "webhooks";
  const about = `${name} (${format}, ${host})`;
  if (last !== null && last.outcome !== "delivered") {
    const says = `${about}: the last ${last.is_test ? "test" : "message"}, ${ago(last.at)}: ${deliveryWords(last)}`;
    // What may pass by itself is sent again.
    const state = last.outcome === "failed" ? "warning" : "failed";
    return { step, state, says, remedy: "Correct its URL, and send a test in the settings of the page." };
  }
  if (!(await connects(host)))
    return { step, state: "failed", says: `${about}: its host can't be reached from here`, remedy: "Correct its URL." };
  const delivered =
    last === null ? "no message since the server was started" : `the last message was delivered ${ago(last.at)}`;
  if (format !== "plexus" && isPrivateHost(new URL(pageUrl).hostname)) {
    const remedy = "Start the server with --public-url, so that phones and other people can open the links.";
    return { step, state: "warning", says: `${about}: ${delivered}; its links lead to ${pageUrl}`, remedy };
  }
  return { step, state: "ok", says: `${about}: reachable, ${delivered}` };
}

/** Whether something listens there; nothing is sent. Only the host is known: without a port, TLS and then plain HTTP. */
async function connects(host: string): Promise<boolean> {
  const { hostname, port } = new URL(`http://${host}`);
  const name = hostname.replace(/^\[|\]$/g, "");
  const ports = /:\d+$/.test(host) ? [Number(port || 80)] : [443, 80];
  for (const one of ports) if (await accepts(name, one)) return true;
  return false;
}

async function accepts(hostname: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CONNECTED_WITHIN_MS);
  const socket = Bun.connect({ hostname, port, socket: { data() {}, open: () => resolve(true) } });
  socket.catch(() => resolve(false));
  const isOpen = await promise;
  clearTimeout(timer);
  void socket.then((one) => one.end()).catch(() => undefined);
  return isOpen;
}

/** Whether browsers are told by push, and how the last messages to them went. */
export async function lookAtPush(config: Config, signal: AbortSignal): Promise<Finding> {
  const { public_key, subscriptions } = await (await openApi(config, signal)).call(getPush);
  const step = "push";
  if (public_key === null)
    return skipped(step, "not set up: `plexus serve --push mailto:YOU@EXAMPLE.COM` tells phones");
  const bad = subscriptions.filter(({ last }) => last !== null && last.outcome !== "delivered");
  if (bad.length > 0) {
    const remedy = "Send a test in the settings of the page, or turn push off and on again on that browser.";
    return { step, state: "warning", says: bad.map(failureOf).join("; "), remedy };
  }
  const count = subscriptions.length === 1 ? "1 browser is" : `${subscriptions.length} browsers are`;
  return { step, state: "ok", says: `set up; ${count} told` };
}

function ago(at: number): string {
  return `${duration(Date.now() / 1000 - at)} ago`;
}

function failureOf({ name, host, last }: PushSubscriptionStatus): string {
  const words = last === null ? "" : `: ${deliveryWords(last)}, ${ago(last.at)}`;
  return `a browser of ${name} (${host})${words}`;
}
