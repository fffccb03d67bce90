import MarkdownIt from "markdown-it";
import { type ComponentChildren, createElement } from "preact";
import { useMemo } from "preact/hooks";
import { Scrollable } from "../elements/scrollable.tsx";
import { Visible } from "../elements/visible.tsx";
import { CodeBlock } from "../highlight/code-block.tsx";
import { Address } from "./address.tsx";

/** Deeper lists and quotes stay plain text. */
const MAX_NESTING = 20;
/** Headings of a text rank below those of the page. */
const PAGE_HEADINGS = 2;

const parser = createParser();
const parserWithoutTables = createParser().disable("table");

function createParser() {
  const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: MAX_NESTING });
  // Link definitions would be invisible, and HTML tags must stay text.
  markdown.disable(["reference", "html_block", "html_inline"]);
  // Only full addresses become links: `main.rs` is a file.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  return markdown;
}

type Token = ReturnType<typeof parser.parse>[number];
type Branch = { token: Token; children: ComponentChildren[] };

export function ParsedMarkdown({ text }: { text: string }) {
  const content = useMemo(() => {
    const tokens = parser.parse(text, {});
    return built(hidesCells(tokens, text) ? parserWithoutTables.parse(text, {}) : tokens);
  }, [text]);
  return <div class="markdown">{content}</div>;
}

/** Whether a row of a table has more cells than its head, which would hide the others. */
function hidesCells(tokens: Token[], text: string): boolean {
  const lines = text.split("\n");
  let columns = 0;
  return tokens.some((token) => {
    if (token.type === "table_open") columns = 0;
    if (token.type === "th_open") columns++;
    if (token.type !== "tr_open" || !token.map) return false;
    const row = lines[token.map[0]] ?? "";
    const separators = row.trim().replaceAll("\\|", "").replace(/^\|/, "").replace(/\|$/, "").match(/\|/g) ?? [];
    return columns > 0 && separators.length + 1 > columns;
  });
}

/** Builds elements from the parser's opening and closing tokens. */
function built(tokens: Token[]): ComponentChildren[] {
  const root: ComponentChildren[] = [];
  const open: Branch[] = [];
  for (const token of tokens) {
    const into = open.at(-1)?.children ?? root;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === 0) into.push(leaf(token));
    else {
      const closed = open.pop();
      (open.at(-1)?.children ?? root).push(closed && branch(closed));
    }
  }
  return root;
}

/** Makes only the elements that are named here. */
function branch({ token, children }: Branch): ComponentChildren {
  switch (token.type) {
    case "heading_open":
      return createElement(`h${Math.min(6, Number(token.tag.slice(1)) + PAGE_HEADINGS)}`, {}, children);
    case "paragraph_open":
      return token.hidden ? children : <p>{children}</p>;
    case "bullet_list_open":
      return <ul>{children}</ul>;
    case "ordered_list_open":
      return <ol start={Number(token.attrGet("start") ?? 1)}>{children}</ol>;
    case "list_item_open":
      return <li>{children}</li>;
    case "blockquote_open":
      return <blockquote>{children}</blockquote>;
    case "table_open":
      return (
        <Scrollable class="table-scroll" label="Table">
          <table>{children}</table>
        </Scrollable>
      );
    case "thead_open":
      return <thead>{children}</thead>;
    case "tbody_open":
      return <tbody>{children}</tbody>;
    case "tr_open":
      return <tr>{children}</tr>;
    case "th_open":
      return <th>{children}</th>;
    case "td_open":
      return <td>{children}</td>;
    case "em_open":
      return <em>{children}</em>;
    case "strong_open":
      return <strong>{children}</strong>;
    case "s_open":
      return <s>{children}</s>;
    case "link_open": {
      const isBare = token.info === "auto";
      return <Address {...targetOf(token, "href")}>{isBare ? undefined : children}</Address>;
    }
    default:
      return children;
  }
}

function targetOf(token: Token, name: "href" | "src") {
  return { to: String(token.attrGet(name) ?? ""), title: String(token.attrGet("title") ?? "") };
}

function leaf(token: Token): ComponentChildren {
  switch (token.type) {
    case "inline":
      return built(token.children ?? []);
    case "softbreak":
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return (
        <code>
          <Visible text={token.content} />
        </code>
      );
    case "fence":
    case "code_block":
      return <CodeBlock code={token.content.replace(/\n$/, "")} info={token.info.trim()} />;
    case "image":
      return (
        <Address {...targetOf(token, "src")}>
          image: <Visible text={token.content} />
        </Address>
      );
    default:
      return <Visible text={token.content} />;
  }
}
