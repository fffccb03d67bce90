import { familyOf } from "./same-commands.ts";

/** Programs that connect to a host which their words name, or look one up: even a name that is looked up is sent. */
const NETWORK_PROGRAMS: ReadonlySet<string> = new Set(
  (
    "curl curlie wget wget2 aria2c axel http https xh httpie lynx links elinks w3m yt-dlp youtube-dl gallery-dl " +
    "nc ncat netcat socat telnet ftp tftp lftp sftp scp rsync rclone websocat wscat grpcurl evans ghz " +
    "dig nslookup host drill kdig delv doggo dog resolvectl getent whois ping ping6 fping hping3 arping traceroute tracepath mtr nmap masscan " +
    "mail mailx s-nail sendmail mutt neomutt msmtp swaks kcat kafkacat mosquitto_pub mosquitto_sub nats redis-cli mongosh cqlsh " +
    "croc wormhole ffsend s3cmd s5cmd mc b2 gsutil aws az gcloud doctl linode-cli hcloud restic borg duplicity rdiff-backup " +
    "ngrok cloudflared bore lt localtunnel snmpget snmpset snmpwalk smbclient ldapsearch ntpdate sntp logger openssl ipfs syncthing"
  ).split(" "),
);
/** Of these programs it is known which options take the next word as their value. */
const VALUED: Readonly<Record<string, ReadonlySet<string>>> = {
  curl: new Set(
    "-A -m -r --max-time --connect-timeout --retry --retry-delay --user-agent --range --max-redirs".split(" "),
  ),
  wget: new Set("-T -t --timeout --tries --user-agent".split(" ")),
};
/** A host, an address with or without a scheme, or `user@host:path`. */
const TARGET =
  /:\/\/|^(?:[^@/\s]+@)?[\w-]+(?:\.[\w-]+)+\.?(?::|\/|$)|^\[[\da-f:]+\]|^(?:[^@/\s]+@)?[\w-]+:|^localhost\b/i;

export function usesNetwork(program: string): boolean {
  return NETWORK_PROGRAMS.has(familyOf(program));
}

/** Whether the words after a pattern name a further target of a program whose target the pattern has named. */
export function namesFurtherTarget(program: string, given: readonly string[], patternLength: number): boolean {
  if (!usesNetwork(program)) return false;
  const targets = given.flatMap((_, at) => (at > 0 && isTarget(familyOf(program), given, at) ? [at] : []));
  return targets.some((at) => at < patternLength) && targets.some((at) => at >= patternLength);
}

function isTarget(family: string, given: readonly string[], at: number): boolean {
  const [word = "", before = ""] = [given[at], given[at - 1]];
  if (word.startsWith("-")) return TARGET.test(word.replace(/^--?[\w-]+=?/, ""));
  const valued = Object.hasOwn(VALUED, family) ? VALUED[family] : undefined;
  // Of other programs nobody knows which words are values, so only what looks like a host counts.
  return valued ? !valued.has(before) : TARGET.test(word);
}
