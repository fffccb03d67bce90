import type { App } from "../../app.ts";
import { getMetrics, getVersion, isAlive, isReady } from "../../contract/routes/server.ts";
import type { RulesFileStatus } from "../../contract/rules/rule.ts";
import { ASKED_AT } from "../../contract/samples.ts";
import { COMMIT, VERSION } from "../../version.ts";
import { operatorOnly } from "../middleware/auth.ts";
import { type Served, type ServedOpenly, serve, serveOpenly } from "../serve.ts";

export type HealthApp = Pick<App, "assertReady" | "claude" | "rules">;
export type MetricsApp = Pick<App, "metrics">;

const METRICS_HEADERS = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store" };

export function healthRoutes(app: HealthApp): ServedOpenly[] {
  return [
    serveOpenly(isAlive, {
      tag: "Server",
      summary: "Whether the server lives",
      token: "none",
      answer: { says: "It does.", example: { status: "ok" } },
    }).by(async () => ({ status: "ok" })),
    serveOpenly(isReady, {
      tag: "Server",
      summary: "Whether the database takes writes",
      details: "With a token it also tells the version, and whether Claude Code was found.",
      token: "more",
      answer: { says: "It does.", example: { status: "ready" } },
    }).by(async ({ principal }) => {
      await app.assertReady();
      if (!principal || principal.kind === "session") return { status: "ready" };
      const claude = await app.claude();
      return {
        status: "ready",
        version: VERSION,
        database: "writable",
        claude: claude.path ?? null,
        claude_version: "version" in claude ? claude.version : null,
        warnings: "problem" in claude ? [claude.problem] : [],
        ...rulesIn(app.rules.fileStatus()),
      };
    }),
  ];
}

/** The state of the operator's rules file, if there is one; an error in it doesn't make the server unready. */
function rulesIn(status: RulesFileStatus | undefined) {
  return status === undefined ? {} : { rules: status };
}

export type VersionApp = Pick<App, "updates">;

export function versionRoutes({ updates }: VersionApp): Served[] {
  return [
    serve(getVersion, {
      tag: "Server",
      summary: "The version that runs, and whether there is a newer one",
      details:
        "Plexus asks nobody for a newer one unless `--update-source` names a place, which is then read once a day at most. Only for the operator.",
      guards: [operatorOnly],
      answer: {
        says: "What is known.",
        example: {
          type: "ok",
          version: "0.1.0",
          commit: null,
          newest: { state: "known", version: "0.2.0", is_newer: true, checked_at: ASKED_AT },
        },
      },
    }).by(async () => ({
      type: "ok",
      version: VERSION,
      commit: COMMIT ?? null,
      newest: await updates.newest(VERSION),
    })),
  ];
}

/** Metrics for Prometheus over all owners' sessions: numbers, without names. */
export function metricsRoutes({ metrics }: MetricsApp): Served[] {
  const build = { version: VERSION, commit: COMMIT ?? "" };
  return [
    serve(getMetrics, {
      tag: "Server",
      summary: "Figures for Prometheus",
      text: { says: "Text in the format of Prometheus." },
    }).by(async ({ c }) => c.body(await metrics.text(build), 200, METRICS_HEADERS)),
  ];
}
