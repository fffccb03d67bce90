import { type Found, follow, isWithin } from "./real-path.ts";

export type PrivateFiles = {
  /** Whether this is a private path, is below one, or is a copy beside one. */
  isPrivate(found: Found): boolean;
  /** Whether this directory contains a private path. */
  holdsPrivate(found: Found): boolean;
};

/**
 * Recognises private files and directories, like the deny rules of a child. A private file is recognised by its
 * identity, through any path or hard link; a hard link to a file inside a private directory is not recognised.
 */
export function privateFiles(paths: readonly string[]): PrivateFiles {
  const privates = paths.map(privateOne);
  return {
    isPrivate: onceEach((found) => {
      const real = folded(found.real);
      return privates.some(
        ({ id, names }) => (id !== undefined && found.ids.includes(id)) || names.some((name) => covers(name, real)),
      );
    }),
    holdsPrivate: onceEach((found) => {
      const real = folded(found.real);
      const own = found.kind === "missing" ? undefined : found.ids.at(-1);
      return privates.some(
        ({ ids, names }) => (own !== undefined && ids.includes(own)) || names.some((name) => isWithin(real, name)),
      );
    }),
  };
}

/** Tells of each look at a file once: what is found at many paths is often the same. */
function onceEach(tell: (found: Found) => boolean): (found: Found) => boolean {
  const told = new WeakMap<Found, boolean>();
  return (found) => {
    const known = told.get(found) ?? tell(found);
    told.set(found, known);
    return known;
  };
}

/** A name with another suffix is a copy, like the ones that `plexus connect` and Claude Code keep of their settings. */
function covers(name: string, real: string): boolean {
  return isWithin(name, real) || real.startsWith(`${name}.`);
}

/** `names`: the path as written and the real path, in lower case. */
type Private = { id: string | undefined; ids: readonly string[]; names: string[] };

/** A path that can't be followed is still private by its name. */
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

/** Some file systems ignore case, and a file that does not exist yet has no identity. */
function folded(path: string): string {
  return path.toLowerCase();
}
