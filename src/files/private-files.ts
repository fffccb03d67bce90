import { type Found, follow, isWithin } from "./real-path.ts";

export type PrivateFiles = {
  /** Whether it is one of the private paths, lies below one, or is a copy that is kept beside one. */
  isPrivate(found: Found): boolean;
  /** Whether reading all that is below it would read something private. */
  holdsPrivate(found: Found): boolean;
};

/**
 * Tells private files and directories from others, as the deny rules of a child do. A private file is known by its
 * identity, whatever path or hard link leads to it; of a private directory, a hard link to a file in it is not.
 */
export function privateFiles(paths: readonly string[]): PrivateFiles {
  const privates = paths.map(privateOne);
  return {
    isPrivate(found) {
      const real = folded(found.real);
      return privates.some(
        ({ id, names }) => (id !== undefined && found.ids.includes(id)) || names.some((name) => covers(name, real)),
      );
    },
    holdsPrivate(found) {
      const real = folded(found.real);
      const own = found.kind === "missing" ? undefined : found.ids.at(-1);
      return privates.some(
        ({ ids, names }) => (own !== undefined && ids.includes(own)) || names.some((name) => isWithin(real, name)),
      );
    },
  };
}

/** Further words behind a dot are a copy, such as `plexus connect` and Claude Code keep of their settings. */
function covers(name: string, real: string): boolean {
  return isWithin(name, real) || real.startsWith(`${name}.`);
}

/** `names`: as it is written and as it really is, in lower case. */
type Private = { id: string | undefined; ids: readonly string[]; names: string[] };

/** What can't be looked at is still private by its name. */
function privateOne(path: string): Private {
  const written = folded(path.length > 1 ? path.replace(/\/+$/, "") : path);
  const found = follow(path);
  if (!found) return { id: undefined, ids: [], names: [written] };
  return {
    id: found.kind === "missing" ? undefined : found.ids.at(-1),
    ids: found.ids,
    names: [written, folded(found.real)],
  };
}

/** Some file systems take both cases for one name, and what does not exist yet has no identity to be known by. */
function folded(path: string): string {
  return path.toLowerCase();
}
