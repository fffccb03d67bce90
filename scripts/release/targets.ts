import { existsSync } from "node:fs";

/** The platform of an executable, and the npm package with Bun for it. */
export type Target = {
  name: string;
  os: "linux" | "darwin" | "windows";
  cpu: "x64" | "arm64";
  libc?: "musl";
  bun: string;
  /** The hash of a package that is not in the lockfile, by Bun's version. */
  integrity?: Record<string, string>;
};

export const TARGETS: Target[] = [
  { name: "linux-x64", os: "linux", cpu: "x64", bun: "@oven/bun-linux-x64" },
  {
    name: "linux-x64-baseline",
    os: "linux",
    cpu: "x64",
    bun: "@oven/bun-linux-x64-baseline",
    integrity: {
      "1.4.4": "sha512-FBU6T21NT+i+rESbi0Z8A8G5xN51c+WZ0v6pIjI6szSzOlqVNv64nf7FPnwNIyxKD1M7Wg5cEobLC/QbzCeLtA==",
    },
  },
  { name: "linux-arm64", os: "linux", cpu: "arm64", bun: "@oven/bun-linux-aarch64" },
  { name: "linux-x64-musl", os: "linux", cpu: "x64", libc: "musl", bun: "@oven/bun-linux-x64-musl" },
  { name: "linux-arm64-musl", os: "linux", cpu: "arm64", libc: "musl", bun: "@oven/bun-linux-aarch64-musl" },
  { name: "darwin-x64", os: "darwin", cpu: "x64", bun: "@oven/bun-darwin-x64" },
  { name: "darwin-arm64", os: "darwin", cpu: "arm64", bun: "@oven/bun-darwin-aarch64" },
  { name: "windows-x64", os: "windows", cpu: "x64", bun: "@oven/bun-windows-x64" },
];

export function executableOf({ os }: Target): string {
  return os === "windows" ? "plexus.exe" : "plexus";
}

/** How this machine runs a target's executable: the words before the command; or why it can't. */
export type Way = { launcher: string[] } | { missing: string };

const OS_OF: Partial<Record<NodeJS.Platform, Target["os"]>> = { linux: "linux", darwin: "darwin", win32: "windows" };
const CPU_IN_PATHS = { x64: "x86_64", arm64: "aarch64" };
/** The directory in which Debian's libc6-arm64-cross installs the other processor's libraries. */
const CROSS_ROOT = "/usr/aarch64-linux-gnu";

export function wayToRun({ os, cpu, libc }: Target): Way {
  if (OS_OF[process.platform] !== os) return { missing: `it needs ${os}` };
  const root = cpu === process.arch ? "" : CROSS_ROOT;
  const emulator = cpu === "arm64" ? "qemu-aarch64-static" : "qemu-x86_64-static";
  if (root !== "" && (os !== "linux" || Bun.which(emulator) === null)) return { missing: `it needs ${os} on ${cpu}` };
  if (os !== "linux") return { launcher: [] };
  // Musl has its own library directory, and Bun doesn't start without a C++ library in it.
  const needed =
    libc === "musl"
      ? [`${root}/lib/ld-musl-${CPU_IN_PATHS[cpu]}.so.1`, `${root}/usr/lib/libstdc++.so.6`]
      : [`${root}/lib${cpu === "x64" ? "64" : ""}/ld-linux-${cpu === "x64" ? "x86-64.so.2" : "aarch64.so.1"}`];
  const absent = needed.filter((path) => !existsSync(path));
  if (absent.length > 0) return { missing: `it needs ${absent.join(" and ")}` };
  return { launcher: root === "" ? [] : [emulator, "-L", root] };
}
