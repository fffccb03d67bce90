import { AppError } from "../../../../src/contract/refusals/errors.ts";

/** The message of the `AppError` that `work` throws; fails if it throws none. */
export function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (cause) {
    return messageOf(cause);
  }
  throw new Error("nothing was refused");
}

export async function rejectionOf(work: Promise<unknown>): Promise<string> {
  return messageOf(
    await work.then(
      () => new Error("nothing was refused"),
      (cause: unknown) => cause,
    ),
  );
}

function messageOf(cause: unknown): string {
  if (cause instanceof AppError && cause.code === "storage_unavailable") return cause.message;
  throw cause;
}
