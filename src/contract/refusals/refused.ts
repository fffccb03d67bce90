/** The server has said no, in its own words; or nobody answered, with status 0 and the code `unreachable`. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(
    readonly status: number,
    readonly code: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

export function isUnreachable(cause: unknown): boolean {
  return cause instanceof Refused && cause.code === "unreachable";
}
