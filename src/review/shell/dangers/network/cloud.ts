import type { ProgramCall } from "../../programs/programs.ts";
import { readArguments, valuesOf } from "../../syntax/options.ts";

/** AWS operations that only read. */
const AWS_READ_ONLY =
  /^(ls|help|wait|describe|list|get|head|lookup|search|batch-get|select|scan|query|filter|tail|test|validate)(-|$)/;
const CLOUD_CHANGES =
  /^(delete|create|deploy|update|remove|set|reset|add|destroy|stop|start|restart|rollback|import|purge|publish|ssh|invoke|assign|apply|rm|cp|mv|rsync)(-|$)/;
const GH_CHANGES: Record<string, RegExp> = {
  repo: /^(delete|create|edit|archive|unarchive|rename|fork|sync|deploy-key|autolink|set-default)$/,
  pr: /^(merge|close|review|revert|lock|unlock)$/,
  release: /^(create|delete|edit|upload|delete-asset)$/,
  secret: /^(set|delete)$/,
  variable: /^(set|delete)$/,
  workflow: /^(run|enable|disable)$/,
  gist: /^(create|edit|delete|rename)$/,
  run: /^delete$/,
  cache: /^delete$/,
  label: /^delete$/,
  project: /^(delete|item-delete|field-delete|close|unlink)$/,
  issue: /^(delete|transfer|lock)$/,
  "ssh-key": /^(add|delete)$/,
  "gpg-key": /^(add|delete)$/,
  auth: /^(login|logout|refresh|setup-git)$/,
  extension: /^(install|upgrade|exec)$/,
  alias: /^(set|import)$/,
  codespace: /^(create|delete|ssh|cp)$/,
};

/** Returns the words of a cloud command that changes something in the cloud. */
export function cloudChange(command: ProgramCall): string | undefined {
  const plain = command.args.map(({ value }) => value).filter((value) => !value.startsWith("-"));
  switch (command.program) {
    case "gh":
      return plain[0] === "api" ? apiChange(command) : ghChange(plain);
    case "glab":
      return plain[0] === "api" ? apiChange(command) : plain.find((word) => CLOUD_CHANGES.test(word));
    case "aws":
    case "aws2":
      return awsChange(command);
    case "gcloud":
    case "az":
    case "gsutil":
    case "doctl":
    case "supabase":
      return plain.find((word) => CLOUD_CHANGES.test(word));
    default:
      return undefined;
  }
}

function ghChange([noun = "", verb = ""]: string[]): string | undefined {
  return Object.hasOwn(GH_CHANGES, noun) && GH_CHANGES[noun]?.test(verb) ? `${noun} ${verb}` : undefined;
}

/** An API call changes something unless its method only reads; with fields the default method is POST. */
function apiChange({ args }: ProgramCall): string | undefined {
  const valued = { short: "XfFHqpt", long: ["method", "field", "raw-field", "header", "input", "jq", "template"] };
  const { options, operands } = readArguments(args.slice(1), valued);
  const method = valuesOf(options, "-X", "--method")[0]?.value.toUpperCase();
  const fields = valuesOf(options, "-f", "-F", "--field", "--raw-field", "--input");
  if (operands[0]?.value === "graphql") {
    return fields.some(({ value, isDynamic }) => isDynamic || /\bmutation\b|@/.test(value)) ? "api graphql" : undefined;
  }
  const isReading = method === undefined ? fields.length === 0 : method === "GET" || method === "HEAD";
  return isReading ? undefined : `api ${method ?? "POST"}`;
}

function awsChange({ args }: ProgramCall): string | undefined {
  const long = ["profile", "region", "output", "endpoint-url", "query"];
  const [service, operation] = readArguments(args, { long }).operands.map(({ value }) => value);
  if (!service || !operation || AWS_READ_ONLY.test(operation)) return undefined;
  return `${service} ${operation}`;
}
