import { type Grammar, type Value, valuedFlags } from "./grammar.ts";

/** The completion script for bash 3.2 and newer. */
export function bashScript(grammars: Grammar[]): string {
  const commands = grammars.flatMap(({ at, commands }) => commands.map(({ name }) => ({ at, name })));
  const steps = commands.map(({ at, name }) => `"${at}/${name}") at="${`${at} ${name}`.trim()}"; position=0 ;;`);
  const values = grammars.flatMap(({ at, flags }) =>
    flags.flatMap(({ names, value }) =>
      value && value.kind !== "free" ? `${names.map((name) => `"${at}:${name}"`).join(" | ")}) ${offer(value)} ;;` : [],
    ),
  );
  const flags = grammars.map(({ at, flags }) => `"${at}") ${words(flags.flatMap(({ names }) => names))} ;;`);
  const places = grammars.flatMap(({ at, commands, args }) => {
    const choices = commands.map(({ name }) => name);
    const first: Value[] = choices.length > 0 ? [{ kind: "choices", choices }] : args;
    return first.flatMap((value, position) => (value.kind === "free" ? [] : `"${at}:${position}") ${offer(value)} ;;`));
  });
  return `# Completion of plexus for bash. In ~/.bashrc: eval "$(plexus completion bash)"
_plexus_ask() {
  local line
  while IFS= read -r line; do
    line="\${line%%$'\\t'*}"
    [[ "$line" == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$line")")
  done < <("\${COMP_WORDS[0]}" completion --candidates "$1" \${where[@]+"\${where[@]}"} 2>/dev/null)
}

_plexus_files() {
  local line
  type compopt >/dev/null 2>&1 && compopt -o filenames
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$cur")
}

_plexus() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at="" position=0 flag="" word i
  local -a where=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n "$flag" ]]; then
      [[ "$word" == "=" ]] && continue
      case "$flag" in --data-dir | --url) where+=("$flag" "$word") ;; esac
      flag=""
      continue
    fi
    case "$word" in
      ${valuedFlags(grammars).join(" | ")}) flag="$word"; continue ;;
      -*) continue ;;
    esac
    case "$at/$word" in
${indented(steps)}
      *) position=$((position + 1)) ;;
    esac
  done
  [[ "$cur" == "=" ]] && cur=""
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
complete -F _plexus plexus
`;
}

function offer(value: Exclude<Value, { kind: "free" }>): string {
  switch (value.kind) {
    case "choices":
      return words(value.choices);
    case "file":
      return "_plexus_files -f";
    case "directory":
      return "_plexus_files -d";
    case "asked":
      return `_plexus_ask ${value.of}`;
  }
}

function words(choices: readonly string[]): string {
  return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$cur"))`;
}

function indented(lines: string[]): string {
  return lines.map((line) => `      ${line}`).join("\n");
}
