import { AppError } from "../../contract/errors.ts";
import type { SessionConfig } from "../../contract/sessions/session.ts";
import type { Storage } from "../../storage/sqlite/database.ts";
import type { SessionRow, SessionSize } from "../../storage/sqlite/sessions/sessions.ts";

const KILOBYTE = 1024;
const MAX_CONFIG_BYTES = 256 * KILOBYTE;
const MOST_OF_ONE: SessionSize = { count: 10_000, bytes: 64 * KILOBYTE * KILOBYTE };
/** So many owners are remembered before all are counted anew. */
const MAX_REMEMBERED = 10_000;

/**
 * Bounds what one owner keeps. What was made since the last count is added up here; only when that passes a bound is it
 * counted what is really stored, and that once until something was removed.
 */
export function createSessionBounds(
  { sessions }: { sessions: Pick<Storage["sessions"], "sizeOf"> },
  most = MOST_OF_ONE,
) {
  let removals = 0;
  const held = new Map<string, SessionSize & { countedAt: number }>();

  function counted(owner: string) {
    const size = { ...sessions.sizeOf(owner), countedAt: removals };
    if (held.size >= MAX_REMEMBERED) held.clear();
    held.set(owner, size);
    return size;
  }

  const isOver = ({ count, bytes }: SessionSize) => count > most.count || bytes > most.bytes;

  return {
    /** Called when a session was stored, in the same transaction; throws where its owner has more than may be. */
    admit({ owner, config }: Pick<SessionRow, "owner" | "config">): void {
      const bytes = sizeOf(config);
      let size = held.get(owner);
      if (size) add(size, 1, bytes);
      else size = counted(owner);
      if (isOver(size) && size.countedAt !== removals) size = counted(owner);
      if (!isOver(size)) return;
      // It is undone by what is thrown.
      add(size, -1, -bytes);
      throw tooMany(size, most);
    },
    /** A session was removed, or the one that was admitted was undone: there may be room again. */
    loosen(): void {
      removals++;
    },
  };
}

/** Refuses settings that are larger than any that a child needs: they are read with every turn, and copied by every fork. */
export function checkSize(config: SessionConfig): void {
  const bytes = sizeOf(config);
  if (bytes <= MAX_CONFIG_BYTES) return;
  throw new AppError(
    "invalid_arguments",
    `The settings of this session are ${bytes} bytes of JSON, and at most ${MAX_CONFIG_BYTES} are kept: shorten its lists, and put long text into files or the prompt.`,
  );
}

function add(size: SessionSize, count: number, bytes: number): void {
  size.count += count;
  size.bytes += bytes;
}

function sizeOf(config: SessionConfig | null): number {
  return config === null ? 0 : Buffer.byteLength(JSON.stringify(config));
}

function tooMany({ count, bytes }: SessionSize, most: SessionSize): AppError {
  const what =
    count >= most.count
      ? `${count} sessions, and ${most.count} is the limit`
      : `${count} sessions with ${bytes} bytes of settings, and ${most.bytes} is the limit`;
  return new AppError(
    "limit_reached",
    `You have ${what}: delete some with claudecode_delete (DELETE /api/v1/sessions/KEY), then try again.`,
  );
}
