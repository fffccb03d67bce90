import { until } from "../until.ts";
import { type Process, processTable } from "./process-table.ts";
import { isRunning, signal } from "./processes.ts";

/** A process that leaves its tree, its process session and its environment; told from all others by how long it sleeps. */
export type Escapee = Disposable & {
  /** What starts it, in a shell. */
  command: string;
  started(): Promise<Process>;
  isRunning(): boolean;
};

/** `before` is what it does once it is out. */
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
