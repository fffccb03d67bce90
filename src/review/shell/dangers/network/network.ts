import { gitArguments } from "../../programs/git-arguments.ts";
import type { ProgramCall } from "../../programs/programs.ts";
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
/**
 * Options whose value, or the file named there, is sent; `--variable` reads a file or the environment for other
 * options.
 */
const CURL_SENDS =
  "-d -F -T --data --data-ascii --data-binary --data-raw --data-urlencode --json --form --form-string --upload-file --variable".split(
    " ",
  );
const WGET_SENDS = ["--post-data", "--post-file", "--body-data", "--body-file"];
/** Verbs of git that serve this repository, or send it by mail. */
const GIT_SERVES = new Set(["daemon", "instaweb", "http-backend", "cvsserver", "send-email"]);

/** Sends data to other machines, or lets them connect. */
export const network: Rule = { rule: "network", test: findNetwork };

function findNetwork(command: ProgramCall): Finding {
  const { program, args, redirects } = command;
  const socket = [...args, ...redirects.flatMap(({ target }) => target ?? [])].find(({ value }) => SOCKET.test(value));
  if (socket) return `opens a connection (${socket.value})`;
  if (program === "curl" || program === "wget") return transfer(command);
  if (/^(http|https|xh)$/.test(program)) {
    // `x=1`, `x:=1` and `x@file` send data; `x==1` and `Name:value` don't change a reading request.
    const isSending = args.some(({ value }) =>
      /^(POST|PUT|PATCH|DELETE)$|^(?!-)[\w.[\]-]+(=(?!=)|:=|@(?!.*\/\/))|^--(raw|form|multipart)|^-f$/.test(value),
    );
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
    return GIT_SERVES.has(verb) ? `shares this repository with others (git ${verb})` : undefined;
  }
  if (MAILERS.has(program)) return `sends email (${program})`;
  if (program === "openssl" && args[0]?.value === "s_client") return "opens a connection (openssl s_client)";
  if (
    /^python[\d.]*$/.test(program) &&
    args.some(({ value }, at) => value === "http.server" && args[at - 1]?.value === "-m")
  )
    return "serves these files over the network (http.server)";
  return LOOKUPS.has(program) && args.some(hasSubstitution) ? sendsOutput(program) : undefined;
}

function transfer({ program, args }: ProgramCall): Finding {
  const { options, operands } = readArguments(args, program === "curl" ? CURL : WGET);
  const urls = [...operands, ...valuesOf(options, "--url")];
  if (urls.length > 0 && urls.every(({ value }) => LOOPBACK.test(value))) return undefined;
  const methods = valuesOf(options, "-X", "--request", "--method");
  const isSending = program === "curl" ? sendsByCurl(options) : valuesOf(options, ...WGET_SENDS).length > 0;
  if (isSending || methods.some(({ value }) => !READS.test(value))) return sends(program);
  return [...urls, ...valuesOf(options, "-H", "--header", "-A", "-b", "-u", "-e")].some(hasSubstitution)
    ? sendsOutput(program)
    : undefined;
}

function sendsByCurl(options: Option[]): boolean {
  if (valuesOf(options, ...CURL_SENDS).length > 0) return true;
  const headers = valuesOf(options, "-H", "--header", "--proxy-header");
  // `--url` is not an abbreviated `--url-query`.
  const queries = options.filter((option) => option.name !== "--url" && isNamed(option, "--url-query"));
  return (
    headers.some(({ value }) => value.startsWith("@")) ||
    queries.some(({ value }) => /^[^=]*@/.test(value?.value ?? ""))
  );
}

/** Whether the word contains a command's output. */
function hasSubstitution({ text }: Word): boolean {
  return /\$\(|`/.test(text);
}

function sends(program: string): string {
  return `sends data to another machine (${program})`;
}

function sendsOutput(program: string): string {
  return `sends the output of a command to another machine (${program})`;
}
