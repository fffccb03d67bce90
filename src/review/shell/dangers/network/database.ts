import type { ProgramCall } from "../../programs/programs.ts";
import type { Finding, Rule } from "../rule.ts";

const CLIENTS =
  /^(psql|mysql|mariadb|sqlite3?|duckdb|sqlcmd|cqlsh|clickhouse-client|mongo|mongosh|redis-cli|mysqladmin|bq)$/;
const CHANGES =
  /\b(drop|truncate|alter|grant|revoke|delete\s+from|update\s+\S+\s+set|insert\s+into|replace\s+into|create\s+(user|role)|copy\s|flushall|flushdb|shutdown|config\s+set|deletemany|deleteone|remove\()/i;
const ESCAPES = /\\!|^[ \t]*\.(shell|system)\b|\bto\s+program\b|\bfrom\s+program\b|\bload_extension\b/im;
const RAILS = /^db:(drop|reset|migrate|rollback|purge|schema:load)/;
const TOOLS: Record<string, RegExp> = {
  prisma: /^(migrate (reset|deploy)|db (push|execute))/,
  rails: RAILS,
  rake: RAILS,
  artisan: /^(migrate|db:wipe)/,
  supabase: /^db (reset|push)/,
  sequelize: /^db:(drop|migrate:undo)/,
  alembic: /^downgrade/,
};

/** Whether a database statement changes stored data. */
export function changesData(text: string): boolean {
  return CHANGES.test(text);
}

/** Changes or removes data in a database. */
export const database: Rule = { rule: "database", test: findChange };

function findChange({ program, args, redirects }: ProgramCall): Finding {
  if (program === "dropdb" || program === "pg_restore") return `changes or removes data in a database (${program})`;
  const values = args.map(({ value }) => value);
  const tool = Object.hasOwn(TOOLS, program) ? TOOLS[program] : undefined;
  if (tool?.test(values.join(" "))) return `changes or removes data in a database (${program})`;
  if (!CLIENTS.test(program)) return undefined;
  const texts = [...values, values.join(" "), ...redirects.flatMap(({ body }) => body?.value ?? [])];
  if (texts.some((text) => ESCAPES.test(text))) return `runs shell commands from a database client (${program})`;
  return texts.some(changesData) ? `changes or removes data in a database (${program})` : undefined;
}
