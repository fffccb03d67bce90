const PATHS = {
  inbox: "M3 12h4l1.5 3h7L17 12h4M5 5h14l2 7v7H3v-7z",
  sessions: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01",
  rules: "M12 3l7.5 3v5.5c0 4.6-3.1 8-7.5 9.5-4.4-1.5-7.5-4.9-7.5-9.5V6zM8.5 12l2.5 2.5 4.5-5",
  history: "M12 7v5l3.5 2M3.5 12a8.5 8.5 0 1 0 2.6-6.1L3.5 8.5M3.5 4v4.5H8",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5",
  overview: "M4 20h16M7 16v-5M12 16V5M17 16v-8",
  help: "M9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 17h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  bell: "M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15zM10 20.5h4",
  theme: "M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z",
  leave: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  find: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20",
  back: "M14.5 6l-6 6 6 6",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  done: "M5 12.5l4.5 4.5L19 7.5",
  warning: "M12 4l9 16H3zM12 10v4.5M12 17.2h.01",
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
