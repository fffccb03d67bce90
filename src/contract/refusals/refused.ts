/**
 * The server refused a request, with the server's message; or nobody answered: then the status is 0 and the code is
 * `unreachable`.
 */
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
