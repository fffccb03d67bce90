import { existsSync, readdirSync, readFileSync } from "node:fs";

export type Process = { pid: number; parent: number; state: string; command: string };

type ProcessTable = {
  all(): Process[];
  get(pid: number): Process | undefined;
  /** Our processes with NAME=value in their environment, anywhere in the tree. */
  withEnvironment(name: string, value: string): Process[];
};

export const processTable: ProcessTable = existsSync("/proc/self/stat") ? linuxTable() : psTable();

function linuxTable(): ProcessTable {
  const all = () =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => get(Number(name)) ?? []);
  const get = (pid: number): Process | undefined => {
    const stat = contents(`/proc/${pid}/stat`);
    if (stat === undefined) return undefined;
    // The command's name is in parentheses and may contain spaces and parentheses.
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = contents(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ").trim() ?? "";
    return { pid, parent: Number(parent), state, command };
  };
  const withEnvironment = (name: string, value: string) =>
    all().filter(({ pid }) => contents(`/proc/${pid}/environ`)?.split("\0").includes(`${name}=${value}`));
  return { all, get, withEnvironment };
}

/** A process may end meanwhile, or belong to another user. */
function contents(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function psTable(): ProcessTable {
  const all = () => ps("-A", "-ww", "-o", "pid=,ppid=,state=,command=");
  return {
    all,
    get: (pid) => ps("-p", String(pid), "-ww", "-o", "pid=,ppid=,state=,command=")[0],
    withEnvironment: (name, value) =>
      ps("-A", "-E", "-ww", "-o", "pid=,ppid=,state=,command=").filter(({ command }) =>
        command.split(/\s+/).includes(`${name}=${value}`),
      ),
  };
}

function ps(...args: string[]): Process[] {
  const lines = Bun.spawnSync(["ps", ...args])
    .stdout.toString()
    .split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, command }];
  });
}
