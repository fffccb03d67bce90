/** Messages of the parser of arguments, and how they are told to people. What the parser quotes is kept. */
const WORDINGS: [said: RegExp, told: (...found: string[]) => string][] = [
  [/^missing required argument '(.+)'$/, (name) => `${name} is missing: --help says what it is.`],
  [/^required option '(.+)' not specified$/, (option) => `${option} is missing: --help says what it is.`],
  [
    /^unknown command '(.+?)'(?: \(Did you mean (.+)\?\))?$/,
    (name, near) => `There is no command "${name}"${hint(near)}`,
  ],
  [/^unknown option '(.+?)'(?: \(Did you mean (.+)\?\))?$/, (name, near) => `There is no option ${name}${hint(near)}`],
  [
    /^too many arguments for 'serve'\..*$/,
    () => "serve takes options alone. Another command stands first: `plexus COMMAND --data-dir DIR`.",
  ],
  [
    /^too many arguments for '(.+?)'\. Expected (\d+) arguments? but got (\d+)\.?$/,
    (command, most, given) => `${command} takes ${most === "0" ? "no argument" : `at most ${most}`}, not ${given}.`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+)'\. Allowed choices are (.+)\.$/,
    (value, name, choices) => `${name} can't be "${value}": choose ${choices}.`,
  ],
  [
    /^option '(.+)' argument '(.*)' is invalid\. Allowed choices are (.+)\.$/,
    (option, value, choices) => `${option.split(" ")[0]} can't be "${value}": choose ${choices}.`,
  ],
];

/** A message of the parser in plain words; one that is not known stays as it is. */
export function usageWords(said: string): string {
  for (const [pattern, told] of WORDINGS) {
    const found = pattern.exec(said);
    if (found) return told(...found.slice(1));
  }
  return said;
}

function hint(near: string | undefined): string {
  return near === undefined ? ": --help lists what there is." : `. Did you mean ${near}?`;
}

/** The text in lines of at most so many columns, broken between words. */
export function brokenBetweenWords(text: string, columns: number): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && Bun.stringWidth(`${last} ${word}`) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join("\n");
}
