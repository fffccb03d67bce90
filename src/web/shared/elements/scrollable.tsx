import type { ComponentChildren, Ref } from "preact";

type Props = {
  label: string;
  class: string;
  scroller?: Ref<HTMLElement>;
  role?: "log";
  onScroll?: () => void;
  children: ComponentChildren;
};

/** A scrollable element that the keyboard can focus and scroll. */
export function Scrollable({ label, class: name, scroller = null, role, onScroll, children }: Props) {
  return (
    <section class={name} aria-label={label} tabIndex={0} role={role} ref={scroller} onScroll={onScroll}>
      {children}
    </section>
  );
}
