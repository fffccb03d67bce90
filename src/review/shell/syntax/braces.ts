type Character = { text: string; isQuoted: boolean };

/** A person could not review a command with more results. */
const MAX_RESULTS = 64;
const MAX_BRACES = 20;

/** Expands the braces of a word as a shell does, unquoted; `undefined` for a range or for too many results. */
export function expandedBraces(text: string): string[] | undefined {
  const characters = unquoted(text);
  if (!characters || characters.filter((one) => is(one, "{")).length > MAX_BRACES) return undefined;
  return expanded(characters)?.map((result) => result.map((one) => one.text).join(""));
}

function unquoted(text: string): Character[] | undefined {
  const characters: Character[] = [];
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\\" && quote !== "'") characters.push({ text: text[++at] ?? "", isQuoted: true });
    else if (character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) quote = character;
    else characters.push({ text: character, isQuoted: quote !== "" });
    if (quote === "" && character === "$" && text[at + 1] === "'") return undefined;
  }
  return characters;
}

function expanded(characters: Character[]): Character[][] | undefined {
  const open = characters.findIndex((one, at) => is(one, "{") && !is(characters[at - 1], "$"));
  if (open < 0) return [characters];
  const { commas, close } = groupAt(characters, open);
  if (close < 0) return [characters];
  if (commas.length === 0) return undefined;
  const rest = expanded(characters.slice(close + 1));
  const edges = [open, ...commas, close];
  const choices = edges.slice(1).map((end, at) => expanded(characters.slice((edges[at] ?? 0) + 1, end)));
  const results: Character[][] = [];
  for (const choice of choices) {
    if (!choice || !rest || choice.length * rest.length + results.length > MAX_RESULTS) return undefined;
    for (const middle of choice)
      for (const end of rest) results.push([...characters.slice(0, open), ...middle, ...end]);
  }
  return results;
}

function groupAt(characters: Character[], open: number): { commas: number[]; close: number } {
  const commas: number[] = [];
  let depth = 0;
  for (let at = open; at < characters.length; at++) {
    if (is(characters[at], "{")) depth++;
    else if (is(characters[at], "}") && --depth === 0) return { commas, close: at };
    else if (is(characters[at], ",") && depth === 1) commas.push(at);
  }
  return { commas, close: -1 };
}

function is(character: Character | undefined, text: string): boolean {
  return character !== undefined && !character.isQuoted && character.text === text;
}
