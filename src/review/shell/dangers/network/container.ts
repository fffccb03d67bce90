import type { ProgramCall } from "../../programs/programs.ts";
import { readArguments, valuesOf } from "../../syntax/options.ts";
import type { Finding, Rule } from "../rule.ts";

const VALUED = {
  short: "ve",
  long: "volume mount pid network ipc uts userns security-opt".split(" "),
};
/** Directories of the machine that contain more than a project. */
const WIDE =
  /^(~|\$HOME|\$\{HOME\}|\/|\/(etc|root|home|usr|var|bin|lib|boot|proc|sys|dev|run|Users|var\/run|var\/lib)(\/docker\.sock)?)\/?$/;
const REMOVES =
  /^((system|container|image|volume|network|builder) (prune|rm)|rm|rmi|compose down|stack rm|swarm leave|kill)\b/;

/** Gives a container control over the machine, or removes containers and their data. */
export const container: Rule = { rule: "container", test: findContainer };

function findContainer({ program, args }: ProgramCall): Finding {
  if (!/^(docker|podman|nerdctl|docker-compose)$/.test(program)) return undefined;
  const values = args.map(({ value }) => value);
  const verbs = (program === "docker-compose" ? ["compose", ...values] : values).filter(
    (value) => !value.startsWith("-"),
  );
  const isRemoving =
    REMOVES.test(verbs.join(" ")) &&
    (verbs[1] !== "down" || values.some((value) => /^(-\w*v|--volumes|--rmi)/.test(value)));
  if (isRemoving) return `removes containers, images or their data (${program})`;
  if (!["run", "create"].some((verb) => verbs.slice(0, 3).includes(verb))) return undefined;
  const { options } = readArguments(args, VALUED);
  if (options.some(({ name }) => name === "--privileged"))
    return `gives a container control over this machine (${program} --privileged)`;
  const powers = options.find(
    ({ name, value }) =>
      (/^--(pid|net|network|ipc|uts|userns)$/.test(name) && value?.value === "host") ||
      /^--(cap-add|device)$/.test(name) ||
      (name === "--security-opt" && /unconfined|disable/.test(value?.value ?? "")),
  );
  if (powers) return `gives a container control over this machine (${program} ${powers.name})`;
  const sources = [
    ...valuesOf(options, "-v", "--volume").map(({ value }) => value.split(":")[0] ?? ""),
    ...valuesOf(options, "--mount").map(({ value }) => /(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1] ?? ""),
  ];
  const wide = sources.find((source) => WIDE.test(source));
  return wide === undefined ? undefined : `gives a container access to ${wide} of this machine (${program})`;
}
