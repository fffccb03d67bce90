import type { FileTarget } from "../paths/file-prover.ts";

/**
 * What rules look at in a call, so that it can be told of any one rule whether it matches the call, without reading the
 * call again. What says "everything" is left out where there is nothing.
 */
export type Outline = {
  /** A rule for the tool by its name covers the call; of a command, see `line`. */
  isNamed?: true;
  /** The file or directory that a call of a file tool is about. */
  target?: FileTarget;
  /** The host that the call is sure to fetch from. */
  host?: string;
  line?: ProvableLine;
  /** What would be suggested for it. */
  suggested?: string;
  /** The programs that a command would start, by their families, each with its words; under each of its names. */
  commands?: string[][];
  /** The hosts that an address may be read as. */
  hosts?: string[];
  /** The paths that the input names, that its command names, changes, and changes with all below them. */
  named?: string[];
  reads?: string[];
  changes?: string[];
  trees?: string[];
};

/** A command of literal words that rules may cover, if they cover all that it has: of what only reads, any one command. */
export type ProvableLine = { needs?: Coverable[]; writes?: Written[]; reads?: Coverable[] };

/** A command of a line. */
export type Coverable = {
  words: string[];
  /** By how many of its first words a pattern has before its wildcard: whether it covers the command, `0` or `1`. */
  wild: string;
  /** Whether a pattern of all its words covers it. */
  isExact?: true;
};

/** A file that a line writes. */
export type Written = { target?: FileTarget; isNamed?: true };

/** Patterns with more words before their wildcard are rare: what they cover is looked at when it is asked. */
export const MOST_FRONT_WORDS = 4;
