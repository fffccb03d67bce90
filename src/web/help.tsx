import { useUser } from "./context.ts";
import { keysOf } from "./inbox/keys.ts";
import { Dialog } from "./shared/elements/dialog.tsx";

const SHOWN: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Enter: "↵" };

export function HelpDialog() {
  const user = useUser();
  return (
    <Dialog title="Keys" isRead onClose={() => (user.isHelpOpen.value = false)}>
      <dl class="keys">
        {keysOf(user).map(({ keys, shown, does }) => (
          <div key={does}>
            <dt>
              {(shown === undefined ? keys : [shown]).map((key) => (
                <kbd key={key}>{SHOWN[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>this help</dd>
        </div>
      </dl>
      <form method="dialog" class="dialog-actions">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </Dialog>
  );
}
