import { createListeners } from "./listeners.ts";

type Page<Item> = { items: Item[]; cursor: string | null };
type ReadPage<Item> = (at: { cursor: string | undefined; limit: number }) => Promise<Page<Item>>;

/** Yields the items of a paged list, reading pages only as needed. */
export async function* pagedItems<Item>(limit: number, read: ReadPage<Item>): AsyncGenerator<Item> {
  let cursor: string | null | undefined;
  do {
    const page: Page<Item> = await read({ cursor: cursor ?? undefined, limit });
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== null);
}

/** Reads all items. */
export function allItems<Item>(limit: number, read: ReadPage<Item>): Promise<Item[]> {
  return Array.fromAsync(pagedItems(limit, read));
}

type PagedListNeed<Item> = {
  read: ReadPage<Item>;
  pageSize: number;
  largestPageSize: number;
  /** Called if a page can't be read; the list stays as it is. */
  onFailure: (cause: unknown) => void;
  /** The order of items; by default newest id first. */
  isBehind?: (item: Item, other: Item) => boolean;
};

export type PagedList<Item extends { id: string }> = ReturnType<typeof createPagedList<Item>>;

/** A list, newest first, that reads more pages on demand, and can be read again up to its present end. */
export function createPagedList<Item extends { id: string }>({
  read,
  pageSize,
  largestPageSize,
  onFailure,
  isBehind = (item, other) => item.id < other.id,
}: PagedListNeed<Item>) {
  const { onChange, changed } = createListeners();
  let items: Item[] = [];
  let cursor: string | null = null;
  let state: "unread" | "partial" | "complete" = "unread";
  let generation = 0;
  let underWay: Promise<void> | undefined;
  let isMoreWanted = false;

  function take(work: () => Promise<Page<Item>>): Promise<void> {
    const mine = generation;
    const reading = work()
      .then((page) => {
        if (mine !== generation) return;
        [items, cursor] = [page.items, page.cursor];
        state = cursor === null ? "complete" : "partial";
        changed();
      })
      .catch(onFailure)
      .finally(() => {
        if (underWay === reading) underWay = undefined;
      });
    underWay = reading;
    return reading;
  }

  /** Reads until there is at least one item or the list ends: a page of a search may be empty. */
  async function readSome(from: string | undefined): Promise<Page<Item>> {
    const mine = generation;
    let page = await read({ cursor: from, limit: pageSize });
    while (page.items.length === 0 && page.cursor !== null && mine === generation)
      page = await read({ cursor: page.cursor, limit: pageSize });
    return page;
  }

  async function asFarAsNow(): Promise<Page<Item>> {
    const mine = generation;
    const oldest = items.at(-1);
    const limit = Math.min(largestPageSize, Math.max(pageSize, items.length));
    const found: Item[] = [];
    for (let next: string | undefined; ; ) {
      const page: Page<Item> = await read({ cursor: next, limit });
      found.push(...page.items);
      const isFarEnough = oldest ? page.items.some((one) => one.id === oldest.id || isBehind(one, oldest)) : true;
      if (page.cursor === null || isFarEnough || mine !== generation) return { items: found, cursor: page.cursor };
      next = page.cursor;
    }
  }

  return {
    items: () => items,
    isRead: () => state !== "unread",
    hasMore: () => state === "partial",
    onChange,

    /** Reads from the beginning; results of earlier reads that arrive later are ignored. */
    async reload(): Promise<void> {
      generation++;
      state = "unread";
      changed();
      await take(() => readSome(undefined));
    },

    async loadMore(): Promise<void> {
      if (isMoreWanted) return;
      isMoreWanted = true;
      await underWay;
      isMoreWanted = false;
      if (state !== "partial") return;
      await take(async () => {
        const page = await readSome(cursor ?? undefined);
        return { items: [...items, ...page.items], cursor: page.cursor };
      });
    },

    /** Reads the listed items again, with newer ones before them. */
    async refresh(): Promise<void> {
      await underWay;
      await take(asFarAsNow);
    },
  };
}
