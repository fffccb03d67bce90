import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { EXAMPLES, STREAM_EXAMPLES } from "./examples.ts";
import { fieldsOf } from "./fields.ts";
import { type Answer, type Operation, TAGS } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { codesByStatus } from "./refusals.ts";
import { componentSchemas, DESCRIPTION, parametersOf } from "./schemas.ts";
import { STYLE } from "./style.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Nothing but the text and its one style sheet: no code, no picture, no other host. */
export const docsPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The same description as the document's, for people. */
export function docsPage(): Html {
  const tags = Object.entries(TAGS).map(([tag, says]) => ({
    tag,
    says,
    operations: OPERATIONS.filter((operation) => operation.tag === tag),
  }));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plexus: REST interface</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<h1>Plexus: REST interface</h1>
${DESCRIPTION.split("\n\n").map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
<p>For programs, the same is at <code>/api/v1/openapi.json</code> (OpenAPI 3.1), with a token.</p>
</header>
<nav aria-label="Routes">
${tags.map(({ tag, operations }) => html`<p><a href="#${tag}">${tag}</a></p><ul>${operations.map(entry)}</ul>`)}
<p><a href="#schemas">Schemas</a></p>
</nav>
<main>
${tags.map(
  ({ tag, says, operations }) =>
    html`<section><h2 id="${tag}">${tag}</h2><p>${prose(says)}</p>${operations.map(described)}</section>`,
)}
<section><h2 id="schemas">Schemas</h2>
${Object.entries(componentSchemas()).map(
  ([name, schema]) => html`<h3 id="schema-${name}">${name}</h3>${fieldsOf(schema)}`,
)}
</section>
</main>
</body>
</html>
`;
}

function entry({ id, method, path }: Operation): Html {
  return html`<li><a href="#${id}"><code>${method.toUpperCase()} ${path}</code></a></li>`;
}

function described(operation: Operation): Html {
  const { id, method, path, summary, details, token, body, answers } = operation;
  const parameters = parametersOf(operation);
  return html`<article>
<h3 id="${id}"><code><span class="method">${method}</span>${path.replaceAll(/:(\w+)/g, "{$1}")}</code></h3>
<p>${summary}. ${details && prose(details)} ${token === "none" ? "Needs no token." : ""}</p>
${parameters.length > 0 ? html`<h4>Parameters</h4>${fieldsOf({ parameters })}` : ""}
${body ? html`<h4>Body: ${schemaLink(body)}</h4>${sample(EXAMPLES[body])}` : ""}
<h4>Answers</h4>
<dl>${Object.entries(answers).map(([status, answer]) => answered(status, answer))}
<dt>Refusals</dt><dd>${refused(operation)}</dd></dl>
</article>`;
}

function answered(status: string, answer: Answer): Html {
  if ("text" in answer) return html`<dt>${status}</dt><dd>${answer.says} <code>${answer.text}</code></dd>`;
  if ("json" in answer)
    return html`<dt>${status} ${schemaLink(answer.json)}</dt><dd>${prose(answer.says)}${sample(EXAMPLES[answer.json])}</dd>`;
  if ("lines" in answer)
    return html`<dt>${status} <code>application/jsonl</code></dt><dd>${answer.says} Each line is a ${schemaLink(answer.lines)}.</dd>`;
  return html`<dt>${status} <code>text/event-stream</code></dt>
<dd>${answer.says} Each <code>data</code> is a ${schemaLink(answer.events)}.<pre>${STREAM_EXAMPLES[answer.events]}</pre></dd>`;
}

function refused(operation: Operation): Html[] {
  return codesByStatus(operation).map(([status, codes]) => html`<div>${status} <code>${codes.join(", ")}</code></div>`);
}

function schemaLink(name: string): Html {
  return html`<a href="#schema-${name}">${name}</a>`;
}

function sample(value: unknown): Html {
  return html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
}

/** Text in which backticks mark code. */
function prose(text: string): Html[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
