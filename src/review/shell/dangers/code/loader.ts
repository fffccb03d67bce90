import type { ProgramCall } from "../../programs/programs.ts";
import type { Word } from "../../syntax/parsed-command.ts";
import type { Finding, Rule } from "../rule.ts";

const LOADERS =
  /^(LD_\w+|DYLD_\w+|GCONV_PATH|PATH|HOME|SHELL|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0124]|BASH_FUNC_.*|GIT_(DIR|WORK_TREE|SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|CONFIG\w*|EXEC_PATH|TEMPLATE_DIR)|SSH_ASKPASS|SUDO_ASKPASS|NODE_OPTIONS|PYTHONSTARTUP|PYTHONHOME|PERL5LIB|PERL5OPT|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|RUSTC|RUSTC_WRAPPER|LESSOPEN|LESSCLOSE|npm_config_script_shell|ANTHROPIC_(BASE_URL|API_KEY)|CLAUDE_CONFIG_DIR)$/i;
/** Variables that name the programs with which others show or edit text. */
const VIEWERS = /^(GIT_)?(EDITOR|VISUAL|PAGER|SEQUENCE_EDITOR|MANPAGER|BROWSER)$/;
const HARMLESS_VIEWERS = /^(cat|less( -\w+)*|true|:|vi|vim|nano|)$/;
const HARMLESS_NODE =
  /^(--(max-old-space-size=\d+|no-warnings|enable-source-maps|experimental-vm-modules|trace-\w+)\s*)*$/;
/** Builtins that set a variable by its name. */
const SETS = new Set(["read", "mapfile", "readarray", "printf", "getopts", "export"]);

/** Changes which code other programs load, or how the shell splits words. */
export const loader: Rule = {
  rule: "loader",
  test: findLoader,
  testAll: ({ variables }) => variables.filter((name) => isLoading(name, undefined)).map(changing),
};

function findLoader({ program, args, words, assignments }: ProgramCall): Finding {
  if (words.length === 0 && assignments.some(({ name }) => name === "IFS")) {
    return "changes how the shell splits words (IFS)";
  }
  const given = args.flatMap((word) => {
    const [, name, value] = /^(?:-[ev])?([A-Za-z_][\w%]*)\+?=(.*)$/s.exec(word.value) ?? [];
    return name === undefined ? [] : [{ name, value: { ...word, value: value ?? "" } }];
  });
  const set = SETS.has(program)
    ? args.map(({ value }) => ({ name: value.replace(/^-[vau]/, ""), value: undefined }))
    : [];
  const found = [...assignments, ...given, ...set].find(({ name, value }) => isLoading(name, value));
  return found && changing(found.name);
}

function changing(name: string): string {
  return `changes which code other programs load (${name})`;
}

function isLoading(name: string, value: Word | undefined): boolean {
  if (VIEWERS.test(name)) return value !== undefined && (value.isDynamic || !HARMLESS_VIEWERS.test(value.value));
  if (name === "NODE_OPTIONS" && value && !value.isDynamic) return !HARMLESS_NODE.test(value.value);
  return LOADERS.test(name);
}
