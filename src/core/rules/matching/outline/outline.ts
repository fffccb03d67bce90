import type { FileTarget } from "../paths/file-prover.ts";

/**
 * The parts of a call that rules look at. With them Plexus can tell whether a rule matches the call without parsing the
 * call again. Empty parts are left out.
 */
export type Outline = {
  /** A rule for the tool by its name covers the call. For commands see `line`. */
  isNamed?: true;
  /** The file or directory on which a file tool works. */
  target?: FileTarget;
  /** The host from which the call certainly fetches. */
  host?: string;
  line?: ProvableLine;
  /** The match of the rule that Plexus would suggest for the call. */
  suggested?: string;
  /** The commands that would start, in each of their readings: the program's family, then its words. */
  commands?: string[][];
  /** All hosts to which an address may lead. */
  hosts?: string[];
  /** Paths: named by the input; named by the commands; changed by them; changed with everything below them. */
  named?: string[];
  reads?: string[];
  changes?: string[];
  trees?: string[];
};

/**
 * A line of literal words. Rules cover it if they cover all of `needs` and `writes`. A line that only reads has
 * `reads`, and covering any one of them is enough.
 */
export type ProvableLine = { needs?: Coverable[]; writes?: Written[]; reads?: Coverable[] };

export type Coverable = {
  words: string[];
  /**
   * One digit for each number of leading words: `1` if a pattern of so many words and a wildcard covers the command.
   */
  wild: string;
  /** Whether a pattern of exactly these words covers it. */
  isExact?: true;
};

/** A file that a line writes. */
export type Written = { target?: FileTarget; isNamed?: true };

/** Patterns with more words before their wildcard are rare. They need a full check of the call. */
export const MOST_FRONT_WORDS = 4;
