import { useEffect } from "preact/hooks";
import { UserContext, usePage, useUser } from "./context.ts";
import { HelpDialog } from "./help.tsx";
import { HistoryPage } from "./history/history.tsx";
import { Inbox } from "./inbox/inbox.tsx";
import { handleKeys } from "./inbox/keys.ts";
import { Navigation } from "./navigation.tsx";
import { SessionPage } from "./sessions/session.tsx";
import { SessionsPage } from "./sessions/sessions.tsx";
import { AnnouncerView } from "./shared/announcer.tsx";
import { SignInPage } from "./sign-in.tsx";

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

/** The same as in the page before any script has run. */
function Loading() {
  return (
    <p class="brand loading">
      <img src="/assets/icon.svg" alt="" width="22" height="22" />
      <span>Plexus</span>
    </p>
  );
}

function SignedInApp() {
  const { router } = usePage();
  const user = useUser();
  useEffect(() => handleKeys(user, router), [user]);
  return (
    <div class="app">
      <Navigation />
      <CurrentPage />
      <AnnouncerView />
      {user.isHelpOpen.value && <HelpDialog />}
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
    case "history":
      return <HistoryPage />;
  }
}
