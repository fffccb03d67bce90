import { isHelpOpen, KEYS } from "./keys.ts";
import { Dialog } from "./parts/dialog.tsx";

const SHOWN: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", Enter: "↵" };

export function HelpDialog() {
  return (
    <Dialog title="Keys" isRead onClose={() => (isHelpOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(({ keys, shown, does }) => (
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
