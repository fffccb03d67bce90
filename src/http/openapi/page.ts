import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { z } from "zod";
import { eventText } from "../streams/events.ts";
import { answersIn, type DescribedAnswer } from "./answers.ts";
import type { Operation } from "./description.ts";
import { DESCRIPTION } from "./document.ts";
import { fieldsOf } from "./fields.ts";
import { operationId, schemaName } from "./names.ts";
import { codesByStatus } from "./refusals.ts";
import { componentSchemas, parametersOf } from "./schemas.ts";
import { STYLE } from "./style.ts";
import { TAGS } from "./tags.ts";

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Allows only the text and its one style sheet: no scripts, no images, no other host. */
export const docsPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Renders the same description for people. */
export function docsPage(served: Operation[]): Html {
  const tags = Object.entries(TAGS).map(([tag, says]) => ({
    tag,
    says,
    operations: served.filter(({ description }) => description.tag === tag),
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
${Object.entries(componentSchemas(served)).map(
  ([name, schema]) => html`<h3 id="schema-${name}">${name}</h3>${fieldsOf(schema)}`,
)}
</section>
</main>
</body>
</html>
`;
}

function entry({ route }: Operation): Html {
  return html`<li><a href="#${operationId(route)}"><code>${route.method} ${route.path}</code></a></li>`;
}

function described(operation: Operation): Html {
  const { route, token, description } = operation;
  const { method, path, body } = route;
  const parameters = parametersOf(operation);
  return html`<article>
<h3 id="${operationId(route)}"><code><span class="method">${method.toLowerCase()}</span>${path.replaceAll(/:(\w+)/g, "{$1}")}</code></h3>
<p>${description.summary}. ${description.details && prose(description.details)} ${token === "none" ? "Needs no token." : ""}</p>
${parameters.length > 0 ? html`<h4>Parameters</h4>${fieldsOf({ parameters })}` : ""}
${body ? html`<h4>Body: ${schemaLink(body)}</h4>${sample(description.body)}` : ""}
<h4>Answers</h4>
<dl>${answersIn(operation).map(answered)}
<dt>Refusals</dt><dd>${refused(operation)}</dd></dl>
</article>`;
}

function answered(answer: DescribedAnswer): Html {
  const { status, says, type } = answer;
  switch (type) {
    case "application/json":
      return html`<dt>${status} ${schemaLink(answer.schema)}</dt><dd>${prose(says)}${sample(answer.example)}</dd>`;
    case "application/jsonl":
      return html`<dt>${status} <code>${type}</code></dt><dd>${says} Each line is a ${schemaLink(answer.schema)}.</dd>`;
    case "text/event-stream":
      return html`<dt>${status} <code>${type}</code></dt>
<dd>${says} Each <code>data</code> is a ${schemaLink(answer.schema)}.<pre>${eventText(answer.example)}</pre></dd>`;
    default:
      return html`<dt>${status}</dt><dd>${says} <code>${type}</code></dd>`;
  }
}

function refused(operation: Operation): Html[] {
  return codesByStatus(operation).map(([status, codes]) => html`<div>${status} <code>${codes.join(", ")}</code></div>`);
}

function schemaLink(schema: z.ZodType): Html {
  const name = schemaName(schema);
  return html`<a href="#schema-${name}">${name}</a>`;
}

function sample(value: unknown): Html {
  return html`<pre>${JSON.stringify(value, null, 2)}</pre>`;
}

/** Renders text in which backticks mark code. */
function prose(text: string): Html[] {
  return text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}
