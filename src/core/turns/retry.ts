import { AppError } from "../../contract/refusals/errors.ts";

export const TRY_AGAIN_MS = 1_000;

/** Retries work that must reach the disk, as long as the error may pass. Gives up when `leave` fires. */
export async function retry(
  work: () => Promise<void>,
  leave: AbortSignal,
  onError: (cause: unknown) => void,
): Promise<void> {
  while (!leave.aborted) {
    try {
      return await work();
    } catch (cause) {
      onError(cause);
      if (!isPassing(cause)) return;
      await Bun.sleep(TRY_AGAIN_MS);
    }
  }
}

/** A full disk or a lack of file descriptors may pass. */
export function isPassing(cause: unknown): boolean {
  if (cause instanceof AppError) return cause.code === "storage_unavailable";
  return cause instanceof Error && "code" in cause && ["EMFILE", "ENFILE"].includes(String(cause.code));
}
