import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Identifies a process for good: a reused pid has another start time. */
export type ProcessIdentity = { pid: number; startTime: string };

export type Process = ProcessIdentity & { parent: number; state: string };

const MAX_COMMAND_CHARS = 200;
const UNREADABLE = ["ENOENT", "ESRCH", "EACCES", "EPERM"];
const HAS_PROC = existsSync("/proc/self/stat");
/** Start times count from the boot, so those of two boots could be equal. */
const BOOT = contents("/proc/sys/kernel/random/boot_id")?.slice(0, 8) ?? "";

/** All running processes. Zombies do not count: they only hold their exit code. */
export function runningProcesses(): Process[] {
  const all = HAS_PROC ? pids().flatMap((pid) => fromProc(pid) ?? []) : fromPs("-A");
  return all.filter(isAlive);
}

export function findProcess(pid: number): Process | undefined {
  const found = HAS_PROC ? fromProc(pid) : fromPs("-p", String(pid))[0];
  return found && isAlive(found) ? found : undefined;
}

export function isSameProcess({ pid, startTime }: ProcessIdentity): boolean {
  return findProcess(pid)?.startTime === startTime;
}

/** Everything below `pid`, parents before their children. */
export function descendantsOf(pid: number, running = runningProcesses()): Process[] {
  return running
    .filter((child) => child.parent === pid)
    .flatMap((child) => [child, ...descendantsOf(child.pid, running)]);
}

/** Processes of this user that were started with NAME=value, wherever they are in the process tree now. */
export function processesWith(name: string, value: string): Process[] {
  const mark = `${name}=${value}`;
  if (HAS_PROC) {
    return runningProcesses().filter(({ pid }) => contents(`/proc/${pid}/environ`)?.split("\0").includes(mark));
  }
  const marked = ps("-A", "-E", "-ww", "-o", "pid=,command=").filter((line) => line.split(/\s+/).includes(mark));
  return marked.flatMap((line) => findProcess(Number.parseInt(line, 10)) ?? []);
}

/** Processes of any user with exactly this limit on resident memory; only on Linux. */
export function processesLimitedTo(bytes: number): Process[] {
  return HAS_PROC ? runningProcesses().filter(({ pid }) => memoryLimitOf(pid) === bytes) : [];
}

/** The limit on a process's resident memory, in bytes; `undefined` if it can't be read. */
export function memoryLimitOf(pid: number | "self"): number | undefined {
  const hard = /^Max resident set +\S+ +(\S+)/m.exec(contents(`/proc/${pid}/limits`) ?? "")?.[1];
  if (hard === undefined) return undefined;
  return hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
}

/** The command line of a process, as its starter wrote it. */
export function commandOf(pid: number): string {
  const line = HAS_PROC
    ? contents(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ")
    : ps("-p", String(pid), "-o", "command=")[0];
  return (line?.trim() || "(unknown)").slice(0, MAX_COMMAND_CHARS);
}

/** Signals the process, unless its pid now belongs to another one. */
export function signalIfSame(target: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isSameProcess(target)) return;
  try {
    process.kill(target.pid, name);
  } catch {
    // It has ended, or belongs to another user: either way there is nothing to do.
  }
}

function isAlive({ state }: Process): boolean {
  return !/^[ZX]/.test(state);
}

function pids(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? Number(name) : []));
}

function fromProc(pid: number): Process | undefined {
  const stat = contents(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command's name is in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent = ""] = fields;
  return { pid, parent: Number(parent), state, startTime: `${fields[19]}@${BOOT}` };
}

function fromPs(...which: string[]): Process[] {
  return ps(...which, "-o", "pid=,ppid=,state=,lstart=").flatMap((line) => {
    const [, pid, parent, state = "", startTime = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, startTime }];
  });
}

function ps(...args: string[]): string[] {
  return Bun.spawnSync(["ps", ...args], { env: { LC_ALL: "C", PATH: "/bin:/usr/bin" } })
    .stdout.toString()
    .split("\n");
}

/** `undefined` if the process has ended meanwhile or belongs to somebody else. */
function contents(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && UNREADABLE.includes(String(cause.code))) return undefined;
    throw cause;
  }
}
