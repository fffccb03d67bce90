import { ROOT } from "./run.ts";

const SHORT = 12;

export type SourceCommit = {
  /** Twelve digits, followed by `-dirty` if files differ from the commit. */
  id: string;
  isDirty: boolean;
  committedAt: Date;
};

/** Reads the current commit from the repository; `undefined` outside of one. */
export function sourceCommit(): SourceCommit | undefined {
  const [hash, seconds] = git("show", "--no-patch", "--format=%H %ct", "HEAD")?.trim().split(" ") ?? [];
  if (hash === undefined || seconds === undefined) return undefined;
  const isDirty = git("status", "--porcelain") !== "";
  const id = `${hash.slice(0, SHORT)}${isDirty ? "-dirty" : ""}`;
  return { id, isDirty, committedAt: new Date(Number(seconds) * 1000) };
}

/** A build without a repository, as in a container, gets the commit from the environment. */
export function commitId(): string | undefined {
  return process.env["PLEXUS_COMMIT"]?.slice(0, SHORT) || sourceCommit()?.id;
}

/** Accepts any owner of the checkout: this only reads. */
function git(...args: string[]): string | undefined {
  if (Bun.which("git") === null) return undefined;
  const { exitCode, stdout } = Bun.spawnSync(["git", "-c", "safe.directory=*", ...args], {
    cwd: ROOT,
    stdin: "ignore",
  });
  return exitCode === 0 ? stdout.toString() : undefined;
}
