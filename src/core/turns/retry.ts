import { AppError } from "../../contract/refusals/errors.ts";

export const TRY_AGAIN_MS = 1_000;

/** Does what must end up on disk, again and again for as long as what is in its way may pass; gives up when told to leave. */
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

/** A disk that takes no writes may take them again, and file descriptors may be free again. */
export function isPassing(cause: unknown): boolean {
  if (cause instanceof AppError) return cause.code === "storage_unavailable";
  return cause instanceof Error && "code" in cause && ["EMFILE", "ENFILE"].includes(String(cause.code));
}
