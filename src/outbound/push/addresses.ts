import { BlockList, isIP } from "node:net";

/** IPv4 networks outside of the public internet: this machine, private and shared networks, and reserved ones. */
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
/** Ranges of public IPv6 to exclude: documentation, and tunnels into IPv4 that hide their target. */
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");
const PUBLIC = new BlockList();
PUBLIC.addSubnet("2000::", 3, "ipv6");

/** How IPv6-only networks write an IPv4 address (NAT64). */
const TRANSLATED = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Whether the address is public, so that it leads neither to this machine nor to its networks. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, "ipv4");
  if (isIP(address) !== 6) return false;
  // Normalize the address as browsers do, so that it has only one spelling.
  const plain = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? "";
  const [, high, low] = TRANSLATED.exec(plain) ?? [];
  if (high !== undefined && low !== undefined) return isPublicAddress(dotted(high, low));
  return PUBLIC.check(plain, "ipv6") && !NOT_PUBLIC.check(plain, "ipv6");
}

function dotted(high: string, low: string): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}
