import type { Subject } from "../../programs/programs.ts";
import type { Finding, Place, Rule } from "../rule.ts";

const TOOLS =
  /^(mkfs(\..+)?|mke2fs|fdisk|sfdisk|gdisk|sgdisk|parted|wipefs|mkswap|losetup|mount|umount|swapo(n|ff)|blkdiscard|cryptsetup|mdadm|(lv|vg|pv)(create|remove|resize)|zpool|diskutil)$/;
const DEVICE = /^\/dev\/(sd|hd|vd|xvd|nvme|mmcblk|r?disk|mapper|md|dm-|loop|k?mem)/;
const LOOKS = new Set(["-l", "--list", "list", "status"]);

/** Changes a disk, what is mounted, or a file byte by byte. */
export const disk: Rule = { rule: "disk", test: findDisk };

function findDisk({ program, args }: Subject, { changed }: Place): Finding {
  if (TOOLS.test(program)) {
    const isLooking = args.length === 0 || LOOKS.has(args[0]?.value ?? "");
    return isLooking ? undefined : `changes a disk or what is mounted (${program})`;
  }
  const device = changed.find(({ value }) => DEVICE.test(value));
  if (device) return `writes to a disk (${device.value})`;
  const isCopying = program === "dd" && args.some(({ value }) => /^of=(?!\/dev\/null$)/.test(value));
  return isCopying ? "overwrites a file byte by byte (dd)" : undefined;
}
