import type { JsonObject } from "../../../contract/values.ts";
import { LongText } from "../elements/long-text.tsx";
import { Visible, visibleText } from "../elements/visible.tsx";
import { CodeBlock } from "../highlight/code-block.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { Fields } from "./fields.tsx";

/** Matches names such as "mcp__github__create_issue". A server's name contains no two underscores. */
const MCP_NAME = /^mcp__(?<server>.+?)__(?<tool>.+)$/s;
/** Longer values get a block of their own. */
const MAX_FIELD_CHARS = 2_000;
const CELL_LANGUAGES: Record<string, string> = { code: "python", markdown: "markdown" };

/** A call of any other tool: every argument by its name. */
export function OtherCall({ name, input }: { name: string; input: JsonObject }) {
  const mcp = MCP_NAME.exec(name)?.groups;
  if (mcp) {
    return (
      <>
        <p class="note">
          <b>{visibleText(mcp["tool"] ?? "")}</b> of the MCP server <b>{visibleText(mcp["server"] ?? "")}</b>
        </p>
        <Arguments of={input} />
      </>
    );
  }
  if (name === "NotebookEdit") return <NotebookCell input={input} />;
  if (name === "Task" || name === "Agent") return <Delegation input={input} />;
  return <Arguments of={input} />;
}

/** A table of the short arguments. Long ones unfold below it. */
function Arguments({ of: input }: { of: JsonObject }) {
  const entries = Object.entries(input);
  const isShort = ([, value]: [string, unknown]) => JSON.stringify(value).length <= MAX_FIELD_CHARS;
  if (entries.length === 0) return <p class="note">It has no arguments.</p>;
  return (
    <>
      <Fields of={Object.fromEntries(entries.filter(isShort))} label="Arguments" />
      {entries
        .filter((entry) => !isShort(entry))
        .map(([key, value]) => (
          <section key={key} class="argument">
            <h3>
              <Visible text={key} />
            </h3>
            <LongText
              text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
              label={visibleText(key)}
            />
          </section>
        ))}
    </>
  );
}

/** The new content of a notebook's cell. */
function NotebookCell({ input }: { input: JsonObject }) {
  const { new_source: source, ...further } = input;
  if (typeof source !== "string") return <Arguments of={input} />;
  return (
    <>
      <Arguments of={further} />
      <CodeBlock code={source} info={CELL_LANGUAGES[String(further["cell_type"] ?? "code")] ?? ""} />
    </>
  );
}

/** The prompt of a subagent. */
function Delegation({ input }: { input: JsonObject }) {
  const { prompt, ...further } = input;
  if (typeof prompt !== "string") return <Arguments of={input} />;
  return (
    <>
      <Arguments of={further} />
      <section class="plan" aria-label="Prompt of the subagent">
        <Markdown text={prompt} label="Prompt of the subagent" />
      </section>
    </>
  );
}
