import type { Webhook, WebhookFormat } from "../../../contract/webhook.ts";
import type { Message } from "../message.ts";
import { discordBody, discordUrl } from "./discord.ts";
import { ntfyBody, ntfyUrl } from "./ntfy.ts";
import { slackBody } from "./slack.ts";
import { telegramBody, telegramUrl } from "./telegram.ts";

type ChatFormat = Exclude<WebhookFormat, "plexus">;
/** The body that a service expects, and its address. */
type Written = { url: string; body: string };

const FORMATS: Record<ChatFormat, { body: (message: Message, url: string) => object; url: (url: string) => string }> = {
  ntfy: { body: ntfyBody, url: ntfyUrl },
  slack: { body: slackBody, url: (url) => url },
  discord: { body: discordBody, url: discordUrl },
  telegram: { body: telegramBody, url: telegramUrl },
};

/** Formats a message for the service of a webhook. */
export function written({ url }: Webhook, format: ChatFormat, message: Message): Written {
  const of = FORMATS[format];
  return { url: of.url(url), body: JSON.stringify(of.body(message, url)) };
}
