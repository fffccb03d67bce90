import { type Flag, type Grammar, type Value, valuedFlags } from "./grammar.ts";

export function fishScript(grammars: Grammar[]): string {
  const steps = grammars.flatMap(({ at, commands }) =>
    commands.map(
      ({ name }) =>
        `case ${quoted(`${at}/${name}`)}\n                set at ${quoted(`${at} ${name}`.trim())}; set position 0`,
    ),
  );
  const lines = grammars.flatMap((grammar) => linesOf(grammar));
  return `# Completion of plexus for fish. In ~/.config/fish/config.fish: plexus completion fish | source
function __plexus_at
    set -l at ''
    set -l position 0
    set -l flag ''
    for word in (commandline -opc)[2..]
        if test -n "$flag"
            set flag ''
            continue
        end
        switch $word
            case ${valuedFlags(grammars).map(quoted).join(" ")}
                set flag $word
                continue
            case '-*'
                continue
        end
        switch "$at/$word"
            ${steps.join("\n            ")}
            case '*'
                set position (math $position + 1)
        end
    end
    test "$at" = "$argv[1]"; and test (count $argv) -eq 1 -o "$position" = "$argv[2]"
end

function __plexus_ask
    set -l where
    set -l flag ''
    set -l words (commandline -opc)
    for word in $words[2..]
        switch $flag
            case --data-dir --url
                set -a where $flag $word
        end
        set flag $word
    end
    $words[1] completion --candidates $argv[1] $where 2>/dev/null
end

complete -c plexus -f
${lines.join("\n")}
`;
}

function linesOf({ at, commands, flags, args }: Grammar): string[] {
  const named = commands.map(
    ({ name, help }) => `complete -c plexus -n ${here(at, 0)} -a ${quoted(name)} -d ${quoted(help)}`,
  );
  const flagged = flags.map(
    (flag) => `complete -c plexus -n ${here(at)} ${spelled(flag)} -d ${quoted(flag.help)}${offer(flag.value)}`,
  );
  const placed = args.map((value, position) => `complete -c plexus -n ${here(at, position)}${offer(value)}`);
  return [...named, ...flagged, ...placed.filter((line) => / -[aF]/.test(line))];
}

function spelled({ names }: Flag): string {
  return names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
}

function offer(value: Value | undefined): string {
  switch (value?.kind) {
    case undefined:
      return "";
    case "choices":
      return ` -x -a ${quoted(value.choices.join(" "))}`;
    case "file":
      return " -r -F";
    case "directory":
      return " -x -a '(__fish_complete_directories)'";
    case "asked":
      return ` -x -k -a '(__plexus_ask ${value.of})'`;
    case "free":
      return " -x";
  }
}

function here(at: string, position?: number): string {
  const words = position === undefined ? [at] : [at, String(position)];
  return quoted(`__plexus_at ${words.map((word) => `"${word}"`).join(" ")}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
