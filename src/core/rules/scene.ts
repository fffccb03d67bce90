import type { Found } from "../../files/real-path.ts";
import type { Ground } from "./ground.ts";

/** What a command sees when it runs. */
export type Scene = {
  ground: Ground;
  /** The directory that it runs in, without links. */
  dir: string;
  /** Its input is what another command prints. */
  isFed: boolean;
};

/** Whether it is a file that may be read, or no file of anybody's: the input, or `/dev/null`. */
export function isFile(word: string, scene: Scene): boolean {
  const { ground, dir } = scene;
  if (word === "/dev/null" || ground.readable(word, dir)?.kind === "file") return true;
  // To some programs it is the input, to others a file of that name.
  return word === "-" && isAbsent(word, scene);
}

/** Whether it may be looked at: itself, and where it is a directory, the names in it. */
export function isEntry(word: string, { ground, dir }: Scene): boolean {
  return ground.readable(word, dir) !== undefined;
}

/** Whether it may be read with all that is below it. */
export function isTree(word: string, { ground, dir }: Scene): boolean {
  const found = ground.readable(word, dir);
  return found !== undefined && (found.kind === "file" || !ground.holdsPrivate(found));
}

/** What a search in a directory reads there, wherever links lead, to know what to leave out. */
const IGNORE_FILES = [".ignore", ".gitignore", ".rgignore"];

/** Whether it may be searched with all that is below it. */
export function isSearchable(word: string, scene: Scene): boolean {
  if (!isTree(word, scene)) return false;
  const dir = scene.ground.readable(word, scene.dir)?.real ?? "";
  return IGNORE_FILES.every((name) => isAbsent(name, { ...scene, dir }) || isFile(name, { ...scene, dir }));
}

/** Whether one may ask if it exists: it lies inside, or would. */
export function isQuestion(word: string, { ground, dir }: Scene): boolean {
  const found: Found | undefined = ground.look(word, dir);
  return found !== undefined && ground.isInside(found) && !ground.isPrivate(found);
}

/** Whether nothing of this name is there. */
export function isAbsent(word: string, { ground, dir }: Scene): boolean {
  return ground.look(word, dir)?.kind === "missing";
}
