import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

type DialogProps = {
  title: string;
  /** The dialog has nothing to fill in, so the focus starts at its title. */
  isRead?: boolean;
  onClose: () => void;
  children: ComponentChildren;
};

/** The browser's own modal dialog: it traps the focus, and Escape closes it. */
export function Dialog({ title, isRead = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  // Dialogs may be nested, so each needs its own id.
  const titleId = useId();
  useEffect(() => {
    element.current?.showModal();
    if (isRead) heading.current?.focus();
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId} tabIndex={isRead ? -1 : undefined} ref={heading}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}
