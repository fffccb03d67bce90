import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { Highlight, Run } from "./highlight.ts";

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
});

type Tree = ReturnType<typeof lowlight.highlight>;
type TreeNode = Tree["children"][number];

/** The grammars are a separate file, fetched when there is code to highlight. */
export const highlight: Highlight = (language, code) => {
  if (!lowlight.registered(language)) return undefined;
  const runs: Run[] = [];
  const collect = (nodes: TreeNode[], name: string) => {
    for (const node of nodes) {
      if (node.type === "text") runs.push({ text: node.value, name });
      if (node.type === "element") collect(node.children, nameOf(node.properties["className"]) || name);
    }
  };
  collect(lowlight.highlight(language, code).children, "");
  return runs;
};

/** A class such as "hljs-keyword". Any other class of the library is dropped. */
function nameOf(classes: unknown): string {
  const first: unknown = Array.isArray(classes) ? classes[0] : undefined;
  return typeof first === "string" && /^hljs-[a-z_-]+$/.test(first) ? first : "";
}
