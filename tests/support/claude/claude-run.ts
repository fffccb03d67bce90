import type { Subprocess } from "bun";
import { signal } from "../processes/processes.ts";
import { until } from "../until.ts";
import { type ClaudeLine, type PermissionDenial, parseLine, ResultLine } from "./lines.ts";

export type ClaudeOutcome = {
  exitCode: number | null;
  /** The signal that ended the process, if one did. */
  signal: NodeJS.Signals | number | null;
  result: ResultLine | undefined;
  /** The text of the result line; empty without one. */
  text: string;
  permissionDenials: PermissionDenial[];
  stderr: string;
};

export type ClaudeRun = {
  pid: number;
  cwd: string;
  home: string;
  /** What the CLI has written so far. */
  lines: readonly ClaudeLine[];
  /** Resolves with the first line that matches, written already or still to come. */
  line(what: string, predicate: (line: ClaudeLine) => boolean, timeoutMs?: number): Promise<ClaudeLine>;
  /** Resolves when the CLI has exited and its output is read to the end. */
  result(timeoutMs?: number): Promise<ClaudeOutcome>;
  kill(name: NodeJS.Signals): void;
};

const RESULT_MS = 60_000;
/** A process that inherited the pipe can hold it open after the CLI's exit. */
const TRAILING_OUTPUT_MS = 2_000;

export function superviseRun(
  subprocess: Subprocess<Blob, "pipe", "pipe">,
  place: { cwd: string; home: string },
): ClaudeRun {
  const lines: ClaudeLine[] = [];
  let stderr = "";
  let ended = false;

  const drained = Promise.all([
    eachLine(subprocess.stdout, (text) => lines.push(parseLine(text))),
    eachLine(subprocess.stderr, (text) => {
      stderr += `${text}\n`;
    }),
  ]);
  void subprocess.exited.then(async () => {
    await Promise.race([drained, Bun.sleep(TRAILING_OUTPUT_MS)]);
    ended = true;
  });

  const soFar = () => {
    const kinds = lines.map(({ type, subtype }) => (subtype === undefined ? type : `${type}/${subtype}`));
    return `lines: ${kinds.slice(-12).join(", ") || "none"}; stderr: ${stderr.slice(-2_000) || "empty"}`;
  };

  return {
    ...place,
    pid: subprocess.pid,
    lines,
    line: (what, predicate, timeoutMs) =>
      until(
        `the CLI to write ${what}`,
        () => {
          const found = lines.find(predicate);
          if (found === undefined && ended) throw new Error(`the CLI exited without ${what} (${soFar()})`);
          return found;
        },
        timeoutMs,
      ),
    async result(timeoutMs = RESULT_MS) {
      await until("the CLI to exit", () => ended, timeoutMs).catch((error: Error) => {
        throw new Error(`${error.message} (${soFar()})`);
      });
      const result = lines.map((line) => ResultLine.safeParse(line)).findLast(({ success }) => success)?.data;
      return {
        exitCode: subprocess.exitCode,
        signal: subprocess.signalCode,
        result,
        text: result?.result ?? "",
        permissionDenials: result?.permission_denials ?? [],
        stderr,
      };
    },
    kill: (name) => void signal(subprocess.pid, name),
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  // Collected in pieces, because a line of megabytes arrives in many chunks.
  let pending: string[] = [];
  for await (const chunk of stream) {
    const [head = "", ...rest] = decoder.decode(chunk, { stream: true }).split("\n");
    pending.push(head);
    for (const next of rest) {
      takeIfAny(pending.join(""), take);
      pending = [next];
    }
  }
  takeIfAny(pending.join(""), take);
}

function takeIfAny(text: string, take: (text: string) => void): void {
  if (text.trim() !== "") take(text);
}
