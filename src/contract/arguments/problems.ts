import type { ZodError, z } from "zod";
import { AppError } from "../refusals/errors.ts";
import { similarName } from "../text/similar-name.ts";
import { UNPRINTABLE } from "../text/unprintable.ts";
import { isJsonObject } from "../values.ts";
import { synonymOf } from "./synonyms.ts";

const MAX_PROBLEMS = 5;
/** A list may have a hundred thousand problems; those beyond this number are only counted. */
const MAX_LOOKED_AT = 1_000;
const MAX_PROBLEM_CHARS = 400;
const MAX_SHOWN_CHARS = 60;
const MAX_UNKNOWN_NAMES = 3;
/** For an unknown argument, at most this many existing arguments are listed. */
const MAX_KNOWN_NAMES = 20;

/** The beginnings of zod's messages; every other message is ours, and follows the argument's name. */
const OF_ZOD = /^(Invalid|Too small|Too big|Unrecognized)\b/;

const EMPTY = "must not be empty";

type Issue = ZodError["issues"][number];
type Issues = Pick<ZodError, "issues">;
type Path = readonly PropertyKey[];

/** Returns the parsed arguments, or throws a refusal that lists every problem; `tool` is the tool's name. */
export function parsedArguments<S extends z.ZodType>(schema: S, given: unknown, tool: string): z.output<S> {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  throw new AppError("invalid_arguments", `${tool}: ${problemsIn(error, schema, given)}.`);
}

/**
 * Describes the problems of a value: for each argument, what it must be and what it is. The text stays short, whatever
 * the value. `whole` names the value itself.
 */
export function problemsIn({ issues }: Issues, schema: z.ZodType, given: unknown, whole = "the arguments"): string {
  // Unknown arguments first: a misspelled one explains a missing one.
  const isUnknown = ({ code }: Issue) => code === "unrecognized_keys";
  const ordered = [...issues.filter(isUnknown), ...issues.filter((issue) => !isUnknown(issue))];
  const told = firstOfEach(ordered.slice(0, MAX_LOOKED_AT));
  const problems = told.slice(0, MAX_PROBLEMS).map((issue) => cut(problemOf(issue, schema, given, whole)));
  const more = told.length + Math.max(0, issues.length - MAX_LOOKED_AT) - MAX_PROBLEMS;
  if (more > 0) problems.push(`and ${more} more`);
  return problems.join("; ");
}

/** Returns the requirement in words that follow the argument's name, without the value, which may be secret. */
export function requirementOf(issue: Issue, schema: z.ZodType): string {
  const { code, message, path } = issue;
  if (!OF_ZOD.test(message)) return message;
  const isText = "origin" in issue && issue.origin === "string";
  if (isText && code === "too_big") return `must have at most ${issue.maximum} characters`;
  if (isText && code === "too_small")
    return issue.minimum === 1 ? EMPTY : `must have at least ${issue.minimum} characters`;
  return `must be ${typesText(schemasAt(schema, path)) ?? "something else"}`;
}

/** Keeps the first problem of each argument; later ones usually follow from it. */
function firstOfEach(issues: readonly Issue[]): Issue[] {
  const seen = new Set<string>();
  return issues.filter(({ path }) => seen.size < seen.add(JSON.stringify(path.map(String))).size);
}

function problemOf(issue: Issue, schema: z.ZodType, given: unknown, whole: string): string {
  const { path, code } = issue;
  const where = path.length === 0 ? whole : pathText(path);
  const value = valueAt(given, path);
  if (code === "unrecognized_keys") {
    const unknown = unknownNames(issue.keys, schemasAt(schema, path));
    return path.length === 0 ? unknown : `${where}: ${unknown}`;
  }
  if (typeof path.at(-1) === "string" && (value === undefined || value === null)) {
    const what = typesText(schemasAt(schema, path));
    return `${where} is missing${what === undefined ? "" : `: give ${what}`}`;
  }
  const closest = code === "invalid_union" ? closestForm(issue.errors) : undefined;
  if (closest) return problemOf({ ...closest, path: [...path, ...closest.path] }, schema, given, whole);
  const must = requirementOf(issue, schema);
  const isSaid = value === "" && must === EMPTY;
  const isOther = code !== "custom" || (must.startsWith("must be ") && !isJsonObject(value));
  return `${where} ${must}${isOther && !isSaid ? `, got ${gotText(issue, value)}` : ""}`;
}

/** Example: `unknown argument "tiemout_secs" (did you mean "timeout_secs"?)` */
function unknownNames(given: readonly string[], schemas: readonly z.core.$ZodTypes[]): string {
  const known = schemas.flatMap(({ _zod: { def } }) => (def.type === "object" ? Object.keys(def.shape) : []));
  const named = given.slice(0, MAX_UNKNOWN_NAMES).map((name) => {
    const meant = synonymOf(name, known) ?? similarName(name, known);
    return meant === undefined ? valueText(name) : `${valueText(name)} (did you mean "${meant}"?)`;
  });
  if (given.length > named.length) named.push(`and ${given.length - named.length} more`);
  const problem = `unknown argument${given.length > 1 ? "s" : ""} ${named.join(", ")}`;
  if (problem.includes("did you mean")) return problem;
  if (known.length === 0) return `${problem}: it takes none`;
  return known.length > MAX_KNOWN_NAMES ? problem : `${problem}: it takes ${known.join(", ")}`;
}

/** Returns the first problem of the union's form that the value fits best; undefined if all forms fit equally badly. */
function closestForm(forms: readonly Issue[][]): Issue | undefined {
  const [best, next] = forms.toSorted((one, other) => depth(other) - depth(one) || one.length - other.length);
  if (!best || !next || (depth(best) === 0 && depth(next) === 0 && best[0]?.code !== "unrecognized_keys"))
    return undefined;
  return best[0];
}

/** Returns how deep the topmost problem is: the deeper, the better the value fits. */
function depth(issues: readonly Issue[]): number {
  return issues.reduce((least, { path }) => Math.min(least, path.length), Number.POSITIVE_INFINITY);
}

/** Formats a path as in `children[2].name`. */
function pathText(path: Path): string {
  return path
    .map((part, at) => (typeof part === "number" ? `[${part}]` : `${at > 0 ? "." : ""}${nameText(String(part))}`))
    .join("");
}

function nameText(name: string): string {
  return /^[\w-]{1,60}$/.test(name) ? name : valueText(name);
}

function valueAt(given: unknown, path: Path): unknown {
  let value = given;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** Returns the schemas that may apply at this path, without wrappers such as `optional`. */
function schemasAt(schema: z.core.$ZodType, path: Path): z.core.$ZodTypes[] {
  const found = bare(schema);
  const { def } = found._zod;
  if (def.type === "union" && path.length > 0) return def.options.flatMap((option) => schemasAt(option, path));
  const [part, ...rest] = path;
  if (part === undefined) return [found];
  const inner = partOf(def, part);
  return inner ? schemasAt(inner, rest) : [];
}

function partOf(def: z.core.$ZodTypes["_zod"]["def"], part: PropertyKey): z.core.$ZodType | undefined {
  switch (def.type) {
    case "object":
      return Object.hasOwn(def.shape, part) ? def.shape[String(part)] : undefined;
    case "array":
      return def.element;
    case "record":
      return def.valueType;
    case "tuple":
      return def.items[Number(part)];
    default:
      return undefined;
  }
}

function bare(schema: z.core.$ZodType): z.core.$ZodTypes {
  // `$ZodTypes` is the union of all schema types.
  const one = schema as z.core.$ZodTypes;
  const { def } = one._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "nonoptional":
    case "default":
    case "prefault":
    case "catch":
    case "readonly":
      return bare(def.innerType);
    case "pipe":
      return bare(def.in._zod.def.type === "transform" ? def.out : def.in);
    default:
      return one;
  }
}

/** Returns the types in words that follow "must be"; `undefined` if only a custom check knows them. */
function typesText(schemas: readonly z.core.$ZodType[]): string | undefined {
  return alternatives(schemas.flatMap((schema) => typeText(bare(schema)) ?? []));
}

function typeText(schema: z.core.$ZodTypes): string | undefined {
  const { def } = schema._zod;
  switch (def.type) {
    case "string":
      return "a string";
    case "number":
      return numberText(schema);
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "object":
    case "record":
      return "a JSON object";
    case "array":
      return listText(typeText(bare(def.element)), schema);
    case "enum":
      return choiceText(Object.values(def.entries));
    case "literal":
      return choiceText(def.values);
    case "union":
      return typesText(def.options);
    case "custom":
      // All our custom schemas are JSON objects.
      return "a JSON object";
    default:
      return undefined;
  }
}

function numberText(schema: z.core.$ZodTypes): string {
  const { least, most, isWhole } = boundsOf(schema);
  const kind = isWhole ? "a whole number" : "a number";
  if (least !== undefined && most !== undefined) return `${kind} from ${least} to ${most}`;
  if (least !== undefined) return `${kind} of at least ${least}`;
  return most === undefined ? kind : `${kind} of at most ${most}`;
}

function listText(items: string | undefined, schema: z.core.$ZodTypes): string {
  const { least, most } = boundsOf(schema);
  const name = items === undefined || items.includes(" or ") ? "entries" : `${items.replace(/^an? /, "")}s`;
  if (least !== undefined && most !== undefined) return `a list of ${least} to ${most} ${name}`;
  return most === undefined ? `a list of ${name}` : `a list of at most ${most} ${name}`;
}

type Bounds = { least?: number; most?: number; isWhole?: true };

function boundsOf({ _zod: { def } }: z.core.$ZodTypes): Bounds {
  const bounds: Bounds = "format" in def && def.format === "safeint" ? { isWhole: true } : {};
  for (const { _zod } of def.checks ?? []) {
    // `$ZodChecks` is the union of all check types.
    const check = _zod.def as z.core.$ZodChecks["_zod"]["def"];
    if (check.check === "greater_than") bounds.least = Number(check.value);
    if (check.check === "less_than") bounds.most = Number(check.value);
    if (check.check === "min_length") bounds.least = check.minimum;
    if (check.check === "max_length") bounds.most = check.maximum;
    if (check.check === "number_format" && check.format === "safeint") bounds.isWhole = true;
  }
  return bounds;
}

function choiceText(values: readonly unknown[]): string | undefined {
  return alternatives(values.map((value) => valueText(value)));
}

function alternatives(texts: readonly string[]): string | undefined {
  const [last, ...others] = [...new Set(texts)].toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
}

/** Describes the given value; for a text or list of the wrong length, its length. */
function gotText({ code }: Issue, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "string" && (code === "too_small" || code === "too_big")) return String(value.length);
  return isJsonObject(value) ? "an object" : valueText(value);
}

/** Formats the value as JSON on one line, with invisible characters escaped. */
function valueText(value: unknown): string {
  if (typeof value !== "string") return value === undefined ? "nothing" : String(value);
  const head = value.slice(0, MAX_SHOWN_CHARS).toWellFormed();
  const escaped = JSON.stringify(head === value ? value : `${head}…`);
  return escaped.replaceAll(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function cut(problem: string): string {
  return problem.length <= MAX_PROBLEM_CHARS ? problem : `${problem.slice(0, MAX_PROBLEM_CHARS - 1).toWellFormed()}…`;
}
