import { CLOUDS } from "./clouds.ts";
import { EFFECTS } from "./effects.ts";
import { GENERATED, GENERATED_HARMLESS } from "./generated.ts";
import { HARMLESS } from "./harmless.ts";
import { HARMLESS_TOOLS } from "./harmless-tools.ts";
import { INDIRECT } from "./indirect.ts";
import { LATER_FILES, ORDINARY_FILES } from "./later-files.ts";
import { LOADING } from "./loading.ts";
import { OTHERS } from "./others.ts";
import { PUBLISHING } from "./publishing.ts";
import { RUNNING } from "./running.ts";
import { TEXTS } from "./texts.ts";
import { WRAPPED } from "./wrapped.ts";
import { WRITING } from "./writing.ts";

/** A command, and exactly the rules that it raises in `/work-dir`. */
export type Row = { command: string; rules: string[] };

const dangerous = [RUNNING, TEXTS, INDIRECT, WRITING, EFFECTS, OTHERS, PUBLISHING, CLOUDS, LOADING].flatMap(
  Object.entries<string>,
);
const generated = [GENERATED, WRAPPED]
  .flatMap(Object.entries<string[]>)
  .flatMap(([rule, commands]) => commands.map((command) => [command, rule] as const));
const files = Object.entries(LATER_FILES).map(([path, others]) => [`echo x > ${path}`, `settings ${others}`] as const);

export const ROWS: Row[] = [
  ...[...dangerous, ...generated, ...files].map(([command, rules]) => ({
    command,
    rules: rules.split(" ").filter(Boolean).sort(),
  })),
  ...[...HARMLESS, ...HARMLESS_TOOLS, ...GENERATED_HARMLESS].map((command) => ({ command, rules: [] })),
  ...ORDINARY_FILES.map((path) => ({ command: `echo x > ${path}`, rules: [] })),
];
