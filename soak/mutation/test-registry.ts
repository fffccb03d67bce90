import { expect } from "bun:test";

/** Replaces `bun:test` in a worker, which runs the same tests repeatedly in one process. */
export { expect };

/** Several tests may have one title, so the id contains the test's number in its file. */
export type RegisteredTest = { id: string; file: string; run: () => unknown };

const tests: RegisteredTest[] = [];
const ends: (() => unknown)[] = [];
let file = "";
let count = 0;
let titles: string[] = [];

/** Loads a file of tests. */
export async function register(path: string, name: string): Promise<void> {
  file = name;
  count = 0;
  titles = [];
  await import(path);
}

export function registered(): readonly RegisteredTest[] {
  return tests;
}

export async function tidyUp(): Promise<void> {
  for (const end of ends.toReversed()) await end();
}

type Row = readonly unknown[] | object | string | number;

function add(title: string, run: () => unknown): void {
  tests.push({ id: `${file} ${++count} ${[...titles, title].join(" › ")}`, file, run });
}

export const test = Object.assign((title: string, run: () => unknown): void => add(title, run), {
  each: (rows: readonly Row[]) => (title: string, run: (...row: unknown[]) => unknown) => {
    for (const [at, row] of rows.entries()) {
      add(`${title} (${at})`, () => (Array.isArray(row) ? run(...row) : run(row)));
    }
  },
  skip: () => {},
  skipIf: (isSkipped: boolean) => (isSkipped ? () => {} : test),
});

export function describe(title: string, body: () => void): void {
  titles = [...titles, title];
  body();
  titles = titles.slice(0, -1);
}

export function afterAll(end: () => unknown): void {
  ends.push(end);
}

export function setDefaultTimeout(): void {}
