import { describe, expect, test } from "bun:test";
import { allItems, createPagedList, pagedItems } from "../../src/client/paging.ts";

/** A server that lists these items, with the next index as the cursor. */
function listing(items: { id: string }[]) {
  const asked: { cursor: string | undefined; limit: number }[] = [];
  const read = async (at: { cursor: string | undefined; limit: number }) => {
    asked.push(at);
    const from = Number(at.cursor ?? 0);
    const next = from + at.limit;
    return { items: items.slice(from, next), cursor: next < items.length ? String(next) : null };
  };
  return { items, asked, read };
}

/** Newest first, as in every list of the server. */
const itemsFrom = (newest: number, oldest = 0) =>
  Array.from({ length: newest - oldest + 1 }, (_, index) => ({ id: `id-${newest - index}` }));

describe("pagedItems", () => {
  test("reads page after page, and no more than needed", async () => {
    const { read, asked } = listing(itemsFrom(9));
    for await (const { id } of pagedItems(3, read)) if (id === "id-5") break;
    expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, "3"]);
    expect(await allItems(3, read)).toEqual(itemsFrom(9));
  });
});

describe("a paged list", () => {
  function listOf(server: ReturnType<typeof listing>) {
    const failures: unknown[] = [];
    const onFailure = (cause: unknown) => void failures.push(cause);
    const list = createPagedList({ read: server.read, pageSize: 3, largestPageSize: 4, onFailure });
    return { list, failures };
  }

  test("reads more on demand, until there is no more", async () => {
    const { list } = listOf(listing(itemsFrom(6)));
    expect({ isRead: list.isRead(), hasMore: list.hasMore() }).toEqual({ isRead: false, hasMore: false });
    await list.reload();
    expect({ items: list.items(), hasMore: list.hasMore() }).toEqual({ items: itemsFrom(6, 4), hasMore: true });
    await Promise.all([list.loadMore(), list.loadMore()]);
    expect(list.items()).toEqual(itemsFrom(6, 1));
    await list.loadMore();
    await list.loadMore();
    expect({ items: list.items(), hasMore: list.hasMore() }).toEqual({ items: itemsFrom(6), hasMore: false });
  });

  test("is read again up to its present end, with any newer items", async () => {
    const server = listing(itemsFrom(8));
    const { list } = listOf(server);
    await list.reload();
    await list.loadMore();
    expect(list.items()).toEqual(itemsFrom(8, 3));
    server.items.unshift({ id: "id-9" });
    await list.refresh();
    expect(list.items()).toEqual(itemsFrom(9, 2));
  });

  test("continues reading if a page is empty and the list has not ended", async () => {
    const pages = [[], ["id-3"], [], [], ["id-1"], []].map((ids) => ids.map((id) => ({ id })));
    const asked: number[] = [];
    const read = async ({ cursor }: { cursor: string | undefined }) => {
      const at = Number(cursor ?? 0);
      asked.push(at);
      return { items: pages[at] ?? [], cursor: at + 1 < pages.length ? String(at + 1) : null };
    };
    const list = createPagedList({ read, pageSize: 3, largestPageSize: 3, onFailure: () => {} });
    await list.reload();
    expect(list.items()).toEqual([{ id: "id-3" }]);
    await list.loadMore();
    expect(list.items()).toEqual([{ id: "id-3" }, { id: "id-1" }]);
    await list.loadMore();
    expect({ asked, hasMore: list.hasMore() }).toEqual({ asked: [0, 1, 2, 3, 4, 5], hasMore: false });
  });

  test("is read again up to its last item in a custom order", async () => {
    const server = listing(["id-1", "id-5", "id-3", "id-2", "id-4"].map((id) => ({ id })));
    const order = new Map(server.items.map(({ id }, at) => [id, at]));
    const isBehind = (one: { id: string }, other: { id: string }) =>
      (order.get(one.id) ?? 0) > (order.get(other.id) ?? 0);
    const list = createPagedList({ read: server.read, pageSize: 3, largestPageSize: 3, onFailure: () => {}, isBehind });
    await list.reload();
    await list.refresh();
    expect(list.items().map(({ id }) => id)).toEqual(["id-1", "id-5", "id-3"]);
  });

  test("ignores late results of an earlier list", async () => {
    const answers: PromiseWithResolvers<{ items: { id: string }[]; cursor: null }>[] = [];
    const read = () => {
      const answer = Promise.withResolvers<{ items: { id: string }[]; cursor: null }>();
      answers.push(answer);
      return answer.promise;
    };
    const list = createPagedList({ read, pageSize: 3, largestPageSize: 3, onFailure: () => {} });
    const [early, late] = [list.reload(), list.reload()];
    answers[1]?.resolve({ items: [{ id: "late" }], cursor: null });
    answers[0]?.resolve({ items: [{ id: "early" }], cursor: null });
    await Promise.all([early, late]);
    expect(list.items()).toEqual([{ id: "late" }]);
  });

  test("keeps its items, and reports why, if it can't be read", async () => {
    const server = listing(itemsFrom(4));
    let isBroken = false;
    const failures: unknown[] = [];
    const list = createPagedList({
      read: async (at) => {
        if (isBroken) throw new Error("away");
        return server.read(at);
      },
      pageSize: 3,
      largestPageSize: 3,
      onFailure: (cause) => void failures.push(cause),
    });
    await list.reload();
    isBroken = true;
    await list.loadMore();
    expect(list.items()).toEqual(itemsFrom(4, 2));
    expect(failures).toEqual([new Error("away")]);
  });
});
