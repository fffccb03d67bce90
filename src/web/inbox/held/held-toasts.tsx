import type { HeldDenial } from "../../../client/deciding/held-denials.ts";
import { callWords } from "../../../client/words/words.ts";
import { useUser } from "../../context.ts";

/** What is about to be denied, and the way back; the key is for the last of them. */
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

/** Stands on a card in the place of the decision, which is made. */
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

/** Said once when it begins; not every second anew. */
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
