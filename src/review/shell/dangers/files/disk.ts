import type { ProgramCall } from "../../programs/programs.ts";
import type { CommandContext, Finding, Rule } from "../rule.ts";

const TOOLS =
  /^(mkfs(\..+)?|mke2fs|fdisk|sfdisk|gdisk|sgdisk|parted|wipefs|mkswap|losetup|mount|umount|swapo(n|ff)|blkdiscard|cryptsetup|mdadm|(lv|vg|pv)(create|remove|resize)|zpool|diskutil)$/;
const DEVICE = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper|md|dm-|loop|k?mem)/;
const READ_ONLY = new Set(["-l", "--list", "list", "status"]);

/** Changes a disk or a mount, or overwrites a file with `dd`. */
export const disk: Rule = { rule: "disk", test: findDisk };

function findDisk({ program, args }: ProgramCall, { changed }: CommandContext): Finding {
  if (TOOLS.test(program)) {
    const isReadOnly = args.length === 0 || READ_ONLY.has(args[0]?.value ?? "");
    return isReadOnly ? undefined : `changes a disk or a mount (${program})`;
  }
  const device = changed.find(({ value, effect }) => DEVICE.test(value) && effect !== "symbolic link");
  if (device) return `writes to a disk (${device.value})`;
  const isCopying = program === "dd" && args.some(({ value }) => /^of=(?!\/dev\/null$)/.test(value));
  return isCopying ? "overwrites a file (dd)" : undefined;
}
