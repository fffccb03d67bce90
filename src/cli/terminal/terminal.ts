/** Where a command reads and writes, and whether a person looks at it. */
export type Terminal = {
  out(text: string): void;
  err(text: string): void;
  /** Reads all of standard input, for a command with the argument `-`. */
  input(): Promise<string>;
  /** Whether a person reads standard output on a screen: a welcome and fitted tables instead of plain lines. */
  isInteractive: boolean;
  /** Whether standard error reaches a screen. */
  showsErrors: boolean;
  hasColour: boolean;
  columns: number;
};

/** The exit codes that scripts can rely on. */
export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  alreadyResolved: 4,
  cancelled: 5,
  nothing: 6,
  contradicts: 7,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Ends a command with this exit code, after printing its one-line message. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(
    message: string,
    readonly exitCode: ExitCode = ExitCode.failed,
  ) {
    super(message);
  }
}

const STYLES = {
  bold: 1,
  dim: 2,
  inverse: 7,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
} as const;
export type Style = keyof typeof STYLES;

export function styled(style: Style, text: string, terminal: Terminal): string {
  return terminal.hasColour ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text;
}

export function bold(text: string, terminal: Terminal): string {
  return styled("bold", text, terminal);
}
