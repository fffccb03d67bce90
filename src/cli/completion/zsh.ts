import { type Flag, type Grammar, type Value, valuedFlags } from "./grammar.ts";

type Described = { name: string; help: string };

export function zshScript(grammars: Grammar[]): string {
  const commands = grammars.flatMap(({ at, commands }) => commands.map(({ name }) => ({ at, name })));
  const steps = commands.map(({ at, name }) => `"${at}/${name}") at="${`${at} ${name}`.trim()}"; position=0 ;;`);
  const values = grammars.flatMap(({ at, flags }) =>
    flags.flatMap(({ names, value }) =>
      value && value.kind !== "free" ? `${names.map((name) => `"${at}:${name}"`).join(" | ")}) ${offer(value)} ;;` : [],
    ),
  );
  const flags = grammars.map(({ at, flags }) => `"${at}") ${described("option", flags.flatMap(spelled))} ;;`);
  const places = grammars.flatMap(({ at, commands, args }) => {
    if (commands.length > 0) return `"${at}:0") ${described("command", commands)} ;;`;
    return args.flatMap((value, position) => (value.kind === "free" ? [] : `"${at}:${position}") ${offer(value)} ;;`));
  });
  return `#compdef plexus
# Completion of plexus for zsh. In ~/.zshrc, after compinit: eval "$(plexus completion zsh)"
_plexus_ask() {
  local -a found
  local line
  for line in "\${(@f)$("\${words[1]}" completion --candidates "$1" $where 2>/dev/null)}"; do
    [[ -n "$line" ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V "$1" found
}

_plexus() {
  local cur="\${words[CURRENT]}" at="" position=0 flag="" word i
  local -a where offered
  for ((i = 2; i < CURRENT; i++)); do
    word="\${(Q)words[i]}"
    if [[ -n "$flag" ]]; then
      case "$flag" in --data-dir | --url) where+=("$flag" "$word") ;; esac
      flag=""
      continue
    fi
    case "$word" in
      --data-dir=* | --url=*) where+=("$word"); continue ;;
      ${valuedFlags(grammars).join(" | ")}) flag="$word"; continue ;;
      -*) continue ;;
    esac
    case "$at/$word" in
${indented(steps)}
      *) position=$((position + 1)) ;;
    esac
  done
  if [[ -z "$flag" && "$cur" == --*=* ]]; then
    flag="\${cur%%=*}"
    compset -P '*='
  fi
  if [[ -n "$flag" ]]; then
    case "$at:$flag" in
${indented(values)}
    esac
    return
  fi
  if [[ "$cur" == -* ]]; then
    case "$at" in
${indented(flags)}
    esac
    return
  fi
  case "$at:$position" in
${indented(places)}
  esac
}
if [[ "$funcstack[1]" == _plexus ]]; then _plexus "$@"; else compdef _plexus plexus; fi
`;
}

function offer(value: Exclude<Value, { kind: "free" }>): string {
  switch (value.kind) {
    case "choices":
      return `compadd -- ${value.choices.join(" ")}`;
    case "file":
      return "_files";
    case "directory":
      return "_files -/";
    case "asked":
      return `_plexus_ask ${value.of}`;
  }
}

function spelled({ names, help }: Flag): Described[] {
  return names.map((name) => ({ name, help }));
}

function described(what: string, choices: Described[]): string {
  const items = choices.map(({ name, help }) => quoted(`${name}:${help}`)).join(" ");
  return `offered=(${items}); _describe ${what} offered`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function indented(lines: string[]): string {
  return lines.map((line) => `      ${line}`).join("\n");
}
