import type { IconName } from "./shared/elements/icons.tsx";
import { linkTo, type Route } from "./shared/route.ts";

type Page = {
  name: string;
  to: string;
  icon: IconName;
  /** The key that leads to the page after `g`. */
  key: string;
  /** The routes that belong to the page. */
  shows: Route["page"][];
};

/** The pages in their order, for the navigation, the keys and the palette. */
export const PAGES: Page[] = [
  { name: "Inbox", to: linkTo.inbox, icon: "inbox", key: "i", shows: ["inbox"] },
  { name: "Sessions", to: linkTo.sessions, icon: "sessions", key: "s", shows: ["sessions", "session"] },
  { name: "Rules", to: linkTo.rules, icon: "rules", key: "r", shows: ["rules"] },
  { name: "History", to: linkTo.history, icon: "history", key: "h", shows: ["history"] },
  { name: "Overview", to: linkTo.overview, icon: "overview", key: "o", shows: ["overview"] },
  { name: "Settings", to: linkTo.settings, icon: "settings", key: "t", shows: ["settings"] },
];
