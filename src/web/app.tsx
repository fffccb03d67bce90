import { useEffect } from "preact/hooks";
import { UserContext, usePage, useUser } from "./context.ts";
import { followAddress } from "./inbox/address.ts";
import { HeldToasts } from "./inbox/held/held-toasts.tsx";
import { Inbox } from "./inbox/inbox.tsx";
import { handleKeys } from "./inbox/keys.ts";
import { handlePageKeys } from "./keys/page-keys.ts";
import { Navigation } from "./navigation.tsx";
import { RulesFileBanner } from "./rules/rules-file-banner.tsx";
import { SessionPage } from "./sessions/session.tsx";
import { SessionsPage } from "./sessions/sessions.tsx";
import { AnnouncerView } from "./shared/announcer.tsx";
import { lazy, lazyPage } from "./shared/lazy.tsx";
import { SignInPage } from "./sign-in.tsx";

const OverviewPage = lazyPage("Overview", async () => (await import("./overview/overview.tsx")).OverviewPage);
const SettingsPage = lazyPage("Settings", async () => (await import("./settings/settings.tsx")).SettingsPage);
const RulesPage = lazyPage("Rules", async () => (await import("./rules/rules.tsx")).RulesPage);

const HistoryPage = lazyPage("History", async () => (await import("./history/history.tsx")).HistoryPage);
const HelpDialog = lazy(
  async () => (await import("./keys/help.tsx")).HelpDialog,
  () => null,
);
const Palette = lazy(
  async () => (await import("./palette/palette.tsx")).Palette,
  () => null,
);
const StartDialog = lazy(
  async () => (await import("./sessions/start-dialog.tsx")).StartDialog,
  () => null,
);

export function App() {
  const page = usePage();
  const user = page.user.value;
  if (user === undefined) return page.notSignedIn.value === undefined ? <Loading /> : <SignInPage />;
  return (
    <UserContext.Provider value={user}>
      <SignedInApp key={user} />
    </UserContext.Provider>
  );
}

/** The same as in the document before any script runs. */
function Loading() {
  return (
    <p class="brand loading">
      <img src="/assets/icon.svg" alt="" width="22" height="22" />
      <span>Plexus</span>
    </p>
  );
}

function SignedInApp() {
  const page = usePage();
  const user = useUser();
  useEffect(() => handlePageKeys(user, page), [user]);
  useEffect(() => handleKeys(user, page.router), [user]);
  useEffect(() => followAddress(user, page), [user]);
  return (
    <div class="app">
      <Navigation />
      <div class="content">
        <RulesFileBanner />
        <CurrentPage />
      </div>
      <div class="toasts">
        <HeldToasts />
        <AnnouncerView />
      </div>
      {user.isHelpOpen.value && <HelpDialog />}
      {user.isPaletteOpen.value && <Palette />}
      {user.isStartOpen.value && <StartDialog onClose={() => (user.isStartOpen.value = false)} />}
    </div>
  );
}

function CurrentPage() {
  const here = usePage().router.route.value;
  switch (here.page) {
    case "inbox":
      return <Inbox />;
    case "sessions":
      return <SessionsPage />;
    case "session":
      return <SessionPage key={here.id} id={here.id} />;
    case "overview":
      return <OverviewPage />;
    case "settings":
      return <SettingsPage />;
    case "rules":
      return <RulesPage />;
    case "history":
      return <HistoryPage />;
  }
}
