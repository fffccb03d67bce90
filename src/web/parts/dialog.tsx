import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog of the browser's own: it holds the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
