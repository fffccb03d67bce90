import type { HeldDenial } from "../../../client/deciding/held-denials.ts";
import { callWords } from "../../../client/words/words.ts";
import { useUser } from "../../context.ts";

/** Denials that are still held, each with a way to take it back. The key takes back the last one. */
export function HeldToasts() {
  const { all } = useUser().deciding.holding;
  const held = all.value;
  return (
    <>
      {held.map((one, at) => (
        <div key={one.approvals[0]?.id} class="toast noted">
          <span>
            Denying {callWords(one.approvals)} in <Seconds held={one} />
          </span>
          <TakeBack held={one} isLast={at === held.length - 1} />
        </div>
      ))}
    </>
  );
}

/** Replaces the actions on a card whose denial is held. */
export function HeldActions({ id }: { id: string }) {
  const { all } = useUser().deciding.holding;
  const held = all.value.find(({ approvals }) => approvals.some((one) => one.id === id));
  return (
    <footer class="actions">
      <p class="hint">
        {held ? (
          <>
            Denying in <Seconds held={held} />
          </>
        ) : (
          "Denying…"
        )}
      </p>
      {held && <TakeBack held={held} isLast={held === all.value.at(-1)} />}
    </footer>
  );
}

/** Screen readers read it once at the beginning, not every second. */
function Seconds({ held }: { held: HeldDenial }) {
  return <span class="seconds">{held.secondsLeft} s</span>;
}

function TakeBack({ held, isLast }: { held: HeldDenial; isLast: boolean }) {
  const { takeBack } = useUser().deciding.holding;
  return (
    <button type="button" class="button small" onClick={() => takeBack(held)}>
      Take back {isLast && <kbd>z</kbd>}
    </button>
  );
}
