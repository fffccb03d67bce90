import { useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { allKeys } from "./page-keys.ts";

const SHOWN: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Enter: "↵" };

export function HelpDialog() {
  const user = useUser();
  return (
    <Dialog title="Keys" isRead onClose={() => (user.isHelpOpen.value = false)}>
      {allKeys(user).map(({ group, keys }) => (
        <section class="key-group" key={group}>
          <h3>{group}</h3>
          <dl class="keys">
            {keys.map(({ keys, shown, does }) => (
              <div key={does}>
                <dt>
                  {(shown === undefined ? keys : [shown]).flatMap((key) =>
                    key.split(" ").map((part) => <kbd key={`${key}-${part}`}>{SHOWN[part] ?? part}</kbd>),
                  )}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <form method="dialog" class="dialog-actions">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </Dialog>
  );
}
