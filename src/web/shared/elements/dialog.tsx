import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

type DialogProps = {
  title: string;
  /** There is nothing to fill in: it is read from its title on. */
  isRead?: boolean;
  onClose: () => void;
  children: ComponentChildren;
};

/** A modal dialog of the browser's own: it holds the focus, and Escape closes it. */
export function Dialog({ title, isRead = false, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  // A dialog may stand over another.
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
