/** Where a command writes, and whether a person is looking. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  /** Somebody reads standard output on a screen: colour and tables, rather than plain lines. */
  isInteractive: boolean;
};

/** Ends a command with this exit code, after its one line for the person. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(
    message: string,
    readonly exitCode = ExitCode.failed,
  ) {
    super(message);
  }
}

/** What scripts can rely on. */
export const ExitCode = { ok: 0, failed: 1, usage: 2, unreachable: 3, alreadyResolved: 4 } as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Columns as wide as their widest cell; what a child wrote can't move the cursor or change colours. */
export function table(header: string[], rows: string[][], terminal: Terminal): string {
  const cells = [header, ...rows.map((row) => row.map(printable))];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  if (terminal.isInteractive) lines[0] = `\u001b[1m${lines[0]}\u001b[0m`;
  return `${lines.join("\n")}\n`;
}

/** Makes control, bidirectional and invisible characters visible. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
