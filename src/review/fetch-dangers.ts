/** Names that lead into this machine or its own network. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|lan|intranet|home\.arpa)$/;
const PRIVATE_V4 =
  /^(0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
const PRIVATE_V6 = /^(::1?$|f[cd]|fe[89ab]|::ffff:)/;
/** No address that a person would type carries more. */
const MAX_QUERY_CHARS = 500;
/** Reading a longer one takes long, if its letters are not of ASCII. */
const MAX_ADDRESS_CHARS = 8_192;

/** What is dangerous about fetching an address, in words that go on after "it". */
export function fetchDangers(address: string): string[] {
  if (address.length > MAX_ADDRESS_CHARS) return [`fetches an address of ${address.length} characters`];
  if (!URL.canParse(address)) return [`fetches an address that can't be read (${address})`];
  const url = new URL(address);
  const found: string[] = [];
  if (url.protocol !== "https:") found.push(`fetches without encryption (${url.protocol.slice(0, -1)})`);
  if (isPrivate(url.hostname)) found.push(`fetches from this machine or its network (${url.host})`);
  if (url.username !== "" || url.password !== "") found.push("sends a name or a password in the address");
  if (url.search.length + url.hash.length > MAX_QUERY_CHARS) found.push(`sends much data in the address (${url.host})`);
  return found;
}

function isPrivate(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (name.startsWith("[")) return PRIVATE_V6.test(name.slice(1, -1));
  return PRIVATE_NAME.test(name) || PRIVATE_V4.test(name) || !name.includes(".");
}
