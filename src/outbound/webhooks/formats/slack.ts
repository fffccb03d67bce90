import { cutText } from "../../../contract/text/cut-text.ts";
import { cutWritten } from "../cut.ts";
import { type Message, timeOfDay } from "../message.ts";

const MAX_HEADER = 150;
const MAX_TEXT = 3_000;

/** A message of blocks for an incoming webhook. Text from a child stands only where Slack parses no markup. */
export function slackBody(message: Message): object {
  const { headline, session, tool, text, dangers, cwd, expiresAt, links } = message;
  const title = `${headline}: ${session}${tool === undefined ? "" : ` · ${tool}`}`;
  const context = [
    ...(cwd === undefined ? [] : [plain(cwd, MAX_TEXT)]),
    ...(expiresAt === undefined ? [] : [{ type: "mrkdwn", text: `Expires ${dateOf(expiresAt)}` }]),
  ];
  return {
    // Notifications show this text instead of the blocks.
    text: cutWritten(title, MAX_TEXT, escaped),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: "header", text: plain(title, MAX_HEADER) },
      ...(text === "" ? [] : [preformatted(text)]),
      ...(dangers.length === 0
        ? []
        : [{ type: "section", text: plain(dangers.map((danger) => `⚠️ It ${danger}`).join("\n"), MAX_TEXT) }]),
      ...(context.length === 0 ? [] : [{ type: "context", elements: context }]),
      {
        type: "actions",
        elements: links.map(({ label, url }, at) => ({
          type: "button",
          action_id: `link-${at}`,
          text: plain(label, 75),
          url,
        })),
      },
    ],
  };
}

function plain(text: string, limit: number): object {
  return { type: "plain_text", emoji: false, text: cutWritten(text, limit, escaped) };
}

function preformatted(text: string): object {
  const shown = cutText(text, MAX_TEXT);
  return {
    type: "rich_text",
    elements: [{ type: "rich_text_preformatted", elements: [{ type: "text", text: shown }] }],
  };
}

/** A date that Slack shows in the reader's own time zone. */
function dateOf(unixSeconds: number): string {
  return `<!date^${unixSeconds}^{date_short_pretty} {time_secs}|${timeOfDay(unixSeconds)}>`;
}

/** Escapes the three characters with which Slack marks links, mentions and dates. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
