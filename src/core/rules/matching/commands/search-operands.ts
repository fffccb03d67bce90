/** Short options of search programs whose value may be the next word. */
const VALUED_LETTERS: Readonly<Record<string, string>> = {
  grep: "efmABCdDX",
  rg: "efgtTmABCMjrdE",
  git: "efmABCO",
};
/** For other search programs: every letter that takes a value in one of them. */
const ANY_VALUED = "efgtTmABCMjrdDEGpxK";
/** Long options without a value. Any other may take the next word as its value. */
const FLAGS =
  /^--(?:no-.*|(?:dereference-)?recursive|ignore-case|smart-case|case-sensitive|line-number|column|invert-match|(?:word|line)-regexp|files-with.*|files|name-only|count|count-matches|(?:with|full)-(?:file)?name|only-matching|quiet|silent|(?:extended|basic|perl)-regexp|fixed-strings|text|null|hidden|unrestricted|multiline|multiline-dotall|pcre2|heading|break|pretty|stats|trim|json|vimgrep|passthru|untracked|cached|exclude-standard|(?:show-function|function-context)|and|or|not|all-match|colou?r|byte-offset|one-file-system|initial-tab|verbose)$/;

/** The files and directories that a search visits: all words except options, their values and the sought text. */
export function searchedPlaces(name: string, words: readonly string[]): string[] {
  const family = /^[efz]?grep$/.test(name) ? "grep" : name;
  const valued = (Object.hasOwn(VALUED_LETTERS, family) && VALUED_LETTERS[family]) || ANY_VALUED;
  const operands: string[] = [];
  let isSought = false;
  let isValue = false;
  for (const [at, word] of words.entries()) {
    if (word === "--" && !isValue) {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (isValue || !/^-./.test(word)) {
      if (!isValue) operands.push(word);
      isValue = false;
      continue;
    }
    const letter = word.startsWith("--") ? -1 : [...word].findIndex((one) => valued.includes(one));
    isValue = word.startsWith("--") ? !word.includes("=") && !FLAGS.test(word) : letter === word.length - 1;
    isSought ||= /^--(?:regexp|files)(?:=|$)/.test(word) || word[letter] === "e";
  }
  return operands.slice(isSought ? 0 : 1);
}

/** Whether a search program searches the working directory because its words name no other place. */
export function searchesHere(name: string, words: readonly string[]): boolean {
  const has = (option: RegExp) => words.some((word) => option.test(word));
  if (/^[efz]?grep$/.test(name) && !has(/^-[A-Za-z]*[rR]|^--(?:dereference-)?rec|^-[A-Za-z]*d|^--dir/)) return false;
  return /^(?:[efzru]?grep|rg|ag|ack)$/.test(name) && searchedPlaces(name, words).length === 0;
}
