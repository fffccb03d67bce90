import { BlockList, isIP } from "node:net";

/** All that is not the public internet: this machine, private and shared networks, and what is reserved. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
/** Within what is public of IPv6: documentation, and ways into IPv4 that hide where they lead. */
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");
const PUBLIC = new BlockList();
PUBLIC.addSubnet("2000::", 3, "ipv6");

/** How networks without IPv4 write an address of IPv4. */
const TRANSLATED = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Whether everybody means the same by this address, so that it leads to nothing of this machine or its networks. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, "ipv4");
  if (isIP(address) !== 6) return false;
  // As browsers write it, so that there is one way to write it.
  const plain = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? "";
  const [, high, low] = TRANSLATED.exec(plain) ?? [];
  if (high !== undefined && low !== undefined) return isPublicAddress(dotted(high, low));
  return PUBLIC.check(plain, "ipv6") && !NOT_PUBLIC.check(plain, "ipv6");
}

function dotted(high: string, low: string): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}
