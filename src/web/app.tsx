import { useEffect } from "preact/hooks";
import { Announcer } from "./announcer.tsx";
import { HelpDialog } from "./help.tsx";
import { HistoryPage } from "./history/history.tsx";
import { Inbox } from "./inbox/inbox.tsx";
import { goLive } from "./inbox/live.ts";
import { handleKeys, isHelpOpen } from "./keys.ts";
import { Navigation } from "./navigation.tsx";
import { badgeTitle } from "./notification.ts";
import { route } from "./route.ts";
import { SessionPage } from "./sessions/session.tsx";
import { SessionsPage } from "./sessions/sessions.tsx";
import { caller, notSignedIn, SignInPage } from "./sign-in.tsx";

export function App() {
  if (caller.value !== undefined) return <SignedInApp />;
  return notSignedIn.value === undefined ? <Loading /> : <SignInPage />;
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
  useEffect(() => {
    const over = new AbortController();
    const undo = [badgeTitle(), handleKeys(), () => over.abort()];
    void goLive(over.signal);
    return () => {
      for (const one of undo) one();
    };
  }, []);
  return (
    <div class="app">
      <Navigation />
      <Page />
      <Announcer />
      {isHelpOpen.value && <HelpDialog />}
    </div>
  );
}

function Page() {
  const here = route.value;
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
