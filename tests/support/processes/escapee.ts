import { until } from "../until.ts";
import { type Process, processTable } from "./process-table.ts";
import { isRunning, signal } from "./processes.ts";

/** A process that leaves its tree, its process session and its environment. Its sleeping time identifies it. */
export type Escapee = Disposable & {
  /** The shell command that starts it. */
  command: string;
  started(): Promise<Process>;
  isRunning(): boolean;
};

/** `before` runs once the process is outside. */
export function planEscape(before = ""): Escapee {
  const sleep = `sleep ${100_000 + Math.floor(Math.random() * 1e9)}`;
  const found = () => processTable.all().filter(({ command, pid }) => command === sleep && isRunning(pid));
  return {
    command: before ? `env -i setsid -f sh -c '${before}; exec ${sleep}'` : `env -i setsid -f ${sleep}`,
    started: () => until("a process to escape", () => found()[0]),
    isRunning: () => found().length > 0,
    [Symbol.dispose]() {
      for (const { pid } of found()) signal(pid, "SIGKILL");
    },
  };
}
