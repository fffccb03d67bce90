/** Returns the known name that a misspelled or incomplete name probably means. */
export function similarName(given: string, known: readonly string[]): string | undefined {
  const plain = plainName(given);
  if (plain.length < 2 || plain.length > MAX_CHARS) return undefined;
  const alike = known.map((name) => ({ name, distance: distanceBetween(plain, plainName(name)) }));
  const [closest] = alike.toSorted((one, other) => one.distance - other.distance);
  if (closest && closest.distance <= Math.floor(plain.length / 3)) return closest.name;
  const containing = known.filter((name) => isPart(plain, name) || isPart(plainName(name), given));
  return containing.length === 1 ? containing[0] : undefined;
}

const MAX_CHARS = 40;

/** `sessionId` and `session_id` are the same name. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Returns whether it is one of the words of a name, as `timeout` is of `timeout_secs`. */
function isPart(plain: string, name: string): boolean {
  return name.split("_").some((word) => plainName(word) === plain);
}

/** Counts the letters to change, add, remove or swap with their neighbour. */
function distanceBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const changed = at(row, j - 1) + (isSame ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? at(before, j - 2) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(changed, at(row, j) + 1, at(next, j - 1) + 1, swapped));
    }
    before = row;
    row = next;
  }
  return at(row, other.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
