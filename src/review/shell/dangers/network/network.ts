import { gitArguments } from "../../programs/git-arguments.ts";
import type { Subject } from "../../programs/programs.ts";
import { isNamed, type Option, readArguments, type Valued, valuesOf } from "../../syntax/options.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Finding, Rule } from "../rule.ts";

const LOOPBACK = /^([a-z]+:\/\/)?([^/@]*@)?(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?=[:/?]|$)/i;
const RAW = new Set(["nc", "ncat", "netcat", "socat", "telnet", "ftp", "tftp", "lftp"]);
const MAILERS = new Set(["mail", "mailx", "sendmail", "mutt", "msmtp"]);
const LOOKUPS = new Set(["dig", "nslookup", "host", "ping", "whois", "drill"]);
const SOCKET = /^\/dev\/(tcp|udp)\//;
const REMOTE_PATH = /^([\w.-]+@)?[\w.-]+::?(?!\/\/)|^rsync:\/\//;

const CURL: Valued = {
  short: "dFTXHuAebcDKowmxrYyE",
  long: "data-ascii data-binary data-raw data-urlencode json form-string upload-file request header proxy-header user-agent output url url-query variable cookie max-time proxy".split(
    " ",
  ),
};
const WGET: Valued = {
  short: "OPoaeUtTwQ",
  long: "post-data post-file body-data body-file method header output-document user-agent".split(" "),
};
const READS = /^(GET|HEAD|OPTIONS)$/i;
/** Options whose value is sent, or names what is; `--variable` reads a file or the environment for other options. */
const CURL_SENDS =
  "-d -F -T --data --data-ascii --data-binary --data-raw --data-urlencode --json --form --form-string --upload-file --variable".split(
    " ",
  );
const WGET_SENDS = ["--post-data", "--post-file", "--body-data", "--body-file"];
/** Verbs of git by which others reach this repository, or mail goes out. */
const GIT_SERVES = new Set(["daemon", "instaweb", "http-backend", "cvsserver", "send-email"]);

/** Sends something to other machines, or opens a way for them. */
export const network: Rule = { rule: "network", test: findNetwork };

function findNetwork(command: Subject): Finding {
  const { program, args, redirects } = command;
  const socket = [...args, ...redirects.flatMap(({ target }) => target ?? [])].find(({ value }) => SOCKET.test(value));
  if (socket) return `opens a connection (${socket.value})`;
  if (program === "curl" || program === "wget") return transfer(command);
  if (/^(http|https|xh)$/.test(program)) {
    const isSending = args.some(({ value }) => /^(POST|PUT|PATCH|DELETE)$/.test(value));
    return isSending && !args.some(({ value }) => LOOPBACK.test(value)) ? sends(program) : undefined;
  }
  if (RAW.has(program)) {
    const isProbe = args.some(({ value }) => /^-\w*z/.test(value)) && args.some(({ value }) => LOOPBACK.test(value));
    return isProbe ? undefined : `opens a connection (${program})`;
  }
  if (/^(scp|sftp|rsync|rclone)$/.test(program)) {
    const isRemote = program === "sftp" || args.some(({ value }) => REMOTE_PATH.test(value));
    return isRemote ? `copies files from or to another machine (${program})` : undefined;
  }
  if (program === "git") {
    const { verb } = gitArguments(command);
    return GIT_SERVES.has(verb) ? `lets others read this repository, or sends it (git ${verb})` : undefined;
  }
  if (MAILERS.has(program)) return `sends mail (${program})`;
  if (program === "openssl" && args[0]?.value === "s_client") return "opens a connection (openssl s_client)";
  if (
    /^python[\d.]*$/.test(program) &&
    args.some(({ value }, at) => value === "http.server" && args[at - 1]?.value === "-m")
  )
    return "lets others read these files (http.server)";
  return LOOKUPS.has(program) && args.some(isPrinted) ? sendsOutput(program) : undefined;
}

function transfer({ program, args }: Subject): Finding {
  const { options, operands } = readArguments(args, program === "curl" ? CURL : WGET);
  const places = [...operands, ...valuesOf(options, "--url")];
  if (places.length > 0 && places.every(({ value }) => LOOPBACK.test(value))) return undefined;
  const methods = valuesOf(options, "-X", "--request", "--method");
  const isSending = program === "curl" ? sendsByCurl(options) : valuesOf(options, ...WGET_SENDS).length > 0;
  if (isSending || methods.some(({ value }) => !READS.test(value))) return sends(program);
  return [...places, ...valuesOf(options, "-H", "--header", "-A", "-b", "-u", "-e")].some(isPrinted)
    ? sendsOutput(program)
    : undefined;
}

function sendsByCurl(options: Option[]): boolean {
  if (valuesOf(options, ...CURL_SENDS).length > 0) return true;
  const headers = valuesOf(options, "-H", "--header", "--proxy-header");
  // `--url` is no `--url-query` that was cut short.
  const queries = options.filter((option) => option.name !== "--url" && isNamed(option, "--url-query"));
  return (
    headers.some(({ value }) => value.startsWith("@")) ||
    queries.some(({ value }) => /^[^=]*@/.test(value?.value ?? ""))
  );
}

/** What a command or a file holds becomes a part of it. */
function isPrinted({ text }: Word): boolean {
  return /\$\(|`/.test(text);
}

function sends(program: string): string {
  return `sends data to another machine (${program})`;
}

function sendsOutput(program: string): string {
  return `sends what a command prints to another machine (${program})`;
}
