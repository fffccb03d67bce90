import { effect, untracked } from "@preact/signals";
import { getApproval } from "../../contract/routes/approvals.ts";
import type { Page } from "../page.ts";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";
import type { User } from "../user.ts";

/** Shows the request that the address names, even if it was decided. Returns a function that stops this. */
export function followAddress({ requests }: User, { api, router, announcer }: Page): () => void {
  let shown: string | undefined;
  let isShowing = false;

  async function show(id: string): Promise<void> {
    isShowing = true;
    try {
      if (requests.inbox.isPending(id)) return requests.openCard(id);
      const { approval } = await api.call(getApproval, { params: { id } });
      const { status, resolved_by: by, resolved_at: at, response_message: message = null } = approval;
      const outcome = at ? { status, by: by ?? "", at, message, lost: false } : undefined;
      requests.inbox.put({ approval, outcome });
      requests.openCard(id);
    } catch (cause) {
      announcer.complain(`This request can't be shown: ${reasonOf(cause)}`);
      router.replace(linkTo.inbox);
    } finally {
      isShowing = false;
    }
  }

  return effect(() => {
    const here = router.route.value;
    const id = here.page === "inbox" ? here.id : undefined;
    const isLoaded = requests.isLoaded.value;
    const selected = requests.selected.value?.approval.id;
    if (id === undefined || !isLoaded) {
      if (id === undefined) shown = undefined;
      return;
    }
    if (shown !== id) {
      shown = id;
      untracked(() => void show(id));
    } else if (
      !isShowing &&
      selected !== undefined &&
      selected !== id &&
      !untracked(() => requests.inbox.isPending(id))
    ) {
      // The request was decided, and another one is in view.
      untracked(() => router.replace(linkTo.inbox));
    }
  });
}
