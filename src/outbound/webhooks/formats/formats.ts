import type { Webhook, WebhookFormat } from "../../../contract/webhook.ts";
import type { Message } from "../message.ts";
import { discordBody, discordUrl } from "./discord.ts";
import { ntfyBody, ntfyUrl } from "./ntfy.ts";
import { slackBody } from "./slack.ts";
import { telegramBody, telegramUrl } from "./telegram.ts";

type ChatFormat = Exclude<WebhookFormat, "plexus">;
/** What a service wants to be sent, and where. */
type Written = { url: string; body: string };

const FORMATS: Record<ChatFormat, { body: (message: Message, url: string) => object; url: (url: string) => string }> = {
  ntfy: { body: ntfyBody, url: ntfyUrl },
  slack: { body: slackBody, url: (url) => url },
  discord: { body: discordBody, url: discordUrl },
  telegram: { body: telegramBody, url: telegramUrl },
};

/** A message as the service of a webhook takes it. */
export function written({ url }: Webhook, format: ChatFormat, message: Message): Written {
  const of = FORMATS[format];
  return { url: of.url(url), body: JSON.stringify(of.body(message, url)) };
}
