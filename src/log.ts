import type { LogLevel } from "./config.ts";

const ORDER: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };
type Fields = Record<string, unknown>;
export type Log = Record<Exclude<LogLevel, "silent">, (message: string, fields?: Fields) => void>;

/** Writes one JSON object per line. Callers keep tokens out of the fields. */
export function createLog(level: LogLevel, write: (line: string) => void): Log {
  const at =
    (own: Exclude<LogLevel, "silent">) =>
    (message: string, fields: Fields = {}) => {
      if (ORDER[own] < ORDER[level]) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level: own, message, ...fields })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The fields of an error with its stack, for the one place that logs it. */
export function errorFields(cause: unknown): Fields {
  if (!(cause instanceof Error)) return { error: String(cause) };
  return {
    error: cause.message,
    stack: cause.stack,
    ...(cause.cause instanceof Error && { cause: cause.cause.message }),
  };
}
