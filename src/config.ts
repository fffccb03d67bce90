import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { MAX_APPROVAL_TIMEOUT_SECS } from "./contract/approvals/approval.ts";
import { requirementOf } from "./contract/arguments/problems.ts";
import { defaultDataDir } from "./contract/data-dir.ts";
import { PushContact, PushHost } from "./contract/push.ts";
import { Secret } from "./contract/secret.ts";
import { PublicUrl, SafeUrl } from "./contract/url.ts";
import { WebhookSettings } from "./contract/webhook.ts";

const LOOPBACK_HOSTS = ["127.0.0.1", "localhost", "::1"];
const LogLevel = z.enum(["debug", "info", "warn", "error", "silent"]);
export type LogLevel = z.infer<typeof LogLevel>;

const NotEmpty = z.string().min(1, "must not be empty");
const HostName = z.string().regex(/^[A-Za-z0-9.:_-]+$/, "must be a host name or an address");
const list = (value: unknown) =>
  typeof value === "string"
    ? value
        .split(",")
        .map((item) => item.trim())
        .filter(Boolean)
    : value;

/** When run from source, Bun must not read files of the current directory that would change what runs. */
const PROGRAM = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, "--no-env-file", "--config=/dev/null", join(import.meta.dir, "main.ts")];

/** Each setting comes from its flag, else from the environment, else from its default. */
const Settings = z.object({
  host: HostName.default("127.0.0.1"),
  port: wholeNumber(0, 65_535).default(4445),
  dataDir: NotEmpty,
  auth: z.enum(["token", "none"]).default("token"),
  token: Secret.optional(),
  claude: NotEmpty.optional(),
  approvalTimeoutSecs: wholeNumber(1, MAX_APPROVAL_TIMEOUT_SECS).default(300),
  maxRunning: wholeNumber(1, 10_000).default(16),
  workspace: z.preprocess(list, z.array(NotEmpty).default([])),
  mcpServers: z.enum(["anyone", "operator"]).default("anyone"),
  rules: NotEmpty.optional(),
  retentionDays: wholeNumber(0, 36_500).default(30),
  builtinRetentionDays: wholeNumber(0, 36_500).default(7),
  maxHistoryMb: wholeNumber(1, 1_000_000_000).default(4096),
  logLevel: LogLevel.default("info"),
  allowedHosts: z.preprocess(list, z.array(HostName).default([])),
  webhook: z.preprocess(list, WebhookSettings.default([])),
  webhookSecret: Secret.optional(),
  publicUrl: PublicUrl.optional(),
  push: PushContact.optional(),
  pushHosts: z.preprocess(list, z.array(PushHost).default([])),
  updateSource: SafeUrl.optional(),
  url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
});
type Settings = z.infer<typeof Settings>;
export type Setting = keyof Settings;
/** Never shown in an error message. A webhook's URL counts: often it is all that is needed to post there. */
const SECRETS: Setting[] = ["token", "webhook", "webhookSecret"];
export type Config = Settings & {
  home: string;
  path: string;
  /** The server's umask; children create their files with it. */
  umask: number;
  /** The command that starts this program, from any directory. */
  program: string[];
  isDefaultDataDir: boolean;
  /** The server's environment; children inherit it without the variables that they must not have. */
  environment: Record<string, string | undefined>;
};

/** The flag and the environment variable of each setting, for help, errors and lookup. */
export const SPELLINGS: Record<Setting, { flag?: string; env: string; value: string; help: string }> = {
  host: { flag: "--host", env: "PLEXUS_HOST", value: "HOST", help: "address to listen on (127.0.0.1)" },
  port: { flag: "--port", env: "PLEXUS_PORT", value: "PORT", help: "port to listen on; 0 takes a free one (4445)" },
  dataDir: {
    flag: "--data-dir",
    env: "PLEXUS_DATA_DIR",
    value: "DIR",
    help: "where the database lives (~/.local/state/plexus)",
  },
  auth: { flag: "--auth", env: "PLEXUS_AUTH", value: "MODE", help: "token, or none on a loopback address (token)" },
  token: { env: "PLEXUS_TOKEN", value: "TOKEN", help: "the operator's token (else created at the first start)" },
  claude: { flag: "--claude", env: "PLEXUS_CLAUDE", value: "PATH", help: "the Claude Code CLI (else searched for)" },
  approvalTimeoutSecs: {
    flag: "--approval-timeout-secs",
    env: "PLEXUS_APPROVAL_TIMEOUT_SECS",
    value: "N",
    help: "how long a request waits before it is denied (300)",
  },
  maxRunning: {
    flag: "--max-running",
    env: "PLEXUS_MAX_RUNNING",
    value: "N",
    help: "children that may run at once; further turns are queued (16)",
  },
  workspace: {
    flag: "--workspace",
    env: "PLEXUS_WORKSPACE",
    value: "DIRS",
    help: "roots that the directories of children must be in, comma-separated (anywhere but a home)",
  },
  mcpServers: {
    flag: "--mcp-servers",
    env: "PLEXUS_MCP_SERVERS",
    value: "WHOSE",
    help: "whose sessions may bring MCP servers: anyone's, or the operator's alone (anyone)",
  },
  rules: {
    flag: "--rules",
    env: "PLEXUS_RULES",
    value: "FILE",
    help: "a file of rules (TOML) that hold for every session; read again when it changes (none)",
  },
  retentionDays: {
    flag: "--retention-days",
    env: "PLEXUS_RETENTION_DAYS",
    value: "N",
    help: "how many days ended turns and decided requests are kept (30)",
  },
  builtinRetentionDays: {
    flag: "--builtin-retention-days",
    env: "PLEXUS_BUILTIN_RETENTION_DAYS",
    value: "N",
    help: "how many days decisions of built-in rules are kept (7)",
  },
  maxHistoryMb: {
    flag: "--max-history-mb",
    env: "PLEXUS_MAX_HISTORY_MB",
    value: "N",
    help: "how large the history may grow before some of it is deleted early (4096)",
  },
  logLevel: {
    flag: "--log-level",
    env: "PLEXUS_LOG_LEVEL",
    value: "LEVEL",
    help: "debug, info, warn, error or silent (info)",
  },
  allowedHosts: {
    flag: "--allowed-hosts",
    env: "PLEXUS_ALLOWED_HOSTS",
    value: "NAMES",
    help: "further host names under which Plexus is reached, comma-separated",
  },
  webhook: {
    flag: "--webhook",
    env: "PLEXUS_WEBHOOK",
    value: "URLS",
    help: "URLs to which requests, decisions and ends of turns are posted, comma-separated (none)",
  },
  publicUrl: {
    flag: "--public-url",
    env: "PLEXUS_PUBLIC_URL",
    value: "URL",
    help: "where people reach the page, for links in messages (the address that is listened on)",
  },
  push: {
    flag: "--push",
    env: "PLEXUS_PUSH",
    value: "CONTACT",
    help: "tell phones and browsers of requests by push; a mailto: or https URL by which push services reach you (none)",
  },
  pushHosts: {
    flag: "--push-hosts",
    env: "PLEXUS_PUSH_HOSTS",
    value: "NAMES",
    help: "push services of a private network that may be sent to, comma-separated (none)",
  },
  updateSource: {
    flag: "--update-source",
    env: "PLEXUS_UPDATE_SOURCE",
    value: "URL",
    help: "URL that names the newest version, read once a day while the settings page is opened (none)",
  },
  webhookSecret: {
    env: "PLEXUS_WEBHOOK_SECRET",
    value: "SECRET",
    help: "the secret that signs webhooks (else created at the first use)",
  },
  url: { flag: "--url", env: "PLEXUS_URL", value: "URL", help: "the server to talk to (else the one of the data dir)" },
};

/** Plexus was called wrongly: one clear line, and exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type Flags = Partial<Record<Setting, string | undefined>>;

export function readConfig(flags: Flags = {}, env: Record<string, string | undefined> = process.env): Config {
  const given: Record<string, string | undefined> = {};
  for (const [setting, { env: variable }] of Object.entries(SPELLINGS)) {
    given[setting] = flags[setting as Setting] ?? (env[variable] || undefined);
  }
  const home = env["HOME"] || homedir();
  const isDefaultDataDir = given["dataDir"] === undefined;
  given["dataDir"] ??= defaultDataDir(home, env);
  const parsed = Settings.safeParse(given);
  if (!parsed.success) throw new UsageError(explain(parsed.error, flags, given));
  const settings = parsed.data;
  if (settings.auth === "none" && !isLoopback(settings.host)) {
    throw new UsageError(
      `--auth none is refused on ${settings.host}: without tokens Plexus listens on 127.0.0.1 only.`,
    );
  }
  return {
    ...settings,
    dataDir: resolve(settings.dataDir),
    rules: settings.rules === undefined ? undefined : resolve(settings.rules),
    home,
    path: env["PATH"] ?? "",
    umask: process.umask(),
    program: PROGRAM,
    isDefaultDataDir,
    environment: env,
  };
}

/** Digits only: otherwise an empty value would count as 0, and `--retention-days ""` would delete everything. */
function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

export function isLoopback(host: string): boolean {
  return LOOPBACK_HOSTS.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** The URL at which a process on this machine reaches a server with these settings. */
export function localUrl(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  const name = host === "::" ? "::1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** Whether commands send the token of PLEXUS_TOKEN instead of the data dir's. */
export function hasTokenVariable(env: Record<string, string | undefined> = process.env): boolean {
  return Boolean(env[SPELLINGS.token.env]);
}

/** Whether the user's environment allows colour. */
export function wantsColour(env: Record<string, string | undefined> = process.env): boolean {
  return !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

function explain(error: z.ZodError, flags: Flags, given: Record<string, string | undefined>): string {
  const issue = error.issues[0];
  const setting = Settings.keyof().safeParse(issue?.path[0]);
  if (!issue || !setting.success) return error.message;
  const { flag, env } = SPELLINGS[setting.data];
  const spelled = flags[setting.data] !== undefined && flag ? flag : env;
  // As JSON, so that no line break or escape sequence reaches the terminal.
  const value = SECRETS.includes(setting.data) ? "" : ` ${JSON.stringify(given[setting.data])}`;
  return `${spelled}${value}: ${requirementOf(issue, Settings)}`;
}
