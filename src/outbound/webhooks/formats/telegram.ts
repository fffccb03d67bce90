import { cutWritten } from "../cut.ts";
import { type Message, timeOfDay } from "../message.ts";
import { isShareable } from "../shareable.ts";

/** Telegram accepts 4,096 characters; the other parts have limits of their own. */
const MAX_TEXT = 1_500;
const MAX_DANGERS = 1_500;

/** A message of a bot. Text from a child stands in code, where Telegram finds no links, mentions or commands. */
export function telegramBody(message: Message, url: string): object {
  const { headline, session, tool, text, dangers, cwd, expiresAt, expiresIn, urgency, links } = message;
  // Telegram refuses a message if a button has an address of this machine.
  const buttons = links.filter(({ url: to }) => isShareable(to));
  const warnings = dangers.map((danger) => `⚠️ It ${danger}`).join("\n");
  const lines = [
    `<b>${headline}</b> ${code(tool === undefined ? session : `${session} · ${tool}`)}`,
    text === "" ? "" : `<pre>${cutWritten(text, MAX_TEXT, escaped)}</pre>`,
    warnings === "" ? "" : `<pre>${cutWritten(warnings, MAX_DANGERS, escaped)}</pre>`,
    cwd === undefined ? "" : `in ${code(cwd)}`,
    expiresAt === undefined ? "" : `Expires in ${expiresIn} (${timeOfDay(expiresAt)})`,
    ...links.filter(({ url: to }) => !isShareable(to)).map(({ label, url: to }) => `${label}: ${escaped(to)}`),
  ];
  return {
    ...Object.fromEntries(new URL(url).searchParams),
    text: lines.filter(Boolean).join("\n"),
    parse_mode: "HTML",
    link_preview_options: { is_disabled: true },
    disable_notification: urgency === "normal",
    ...(buttons.length > 0 && {
      reply_markup: { inline_keyboard: [buttons.map(({ label, url: to }) => ({ text: label, url: to }))] },
    }),
  };
}

/** The parameters go into the body. */
export function telegramUrl(url: string): string {
  const address = new URL(url);
  address.search = "";
  return address.href;
}

function code(text: string): string {
  return `<code>${escaped(text)}</code>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
