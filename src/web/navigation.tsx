import { usePage, useUser } from "./context.ts";
import { PAGES } from "./pages.ts";
import { Icon, type IconName } from "./shared/elements/icons.tsx";
import { linkTo } from "./shared/route.ts";

const CONNECTION = { connecting: "Connecting…", live: "Live", lost: "No connection, trying again…" };
const NEXT_THEME = { system: "light", light: "dark", dark: "system" } as const;

export function Navigation() {
  const { router, preferences, notifier, signOut } = usePage();
  const { caller, requests, live, isHelpOpen, isPaletteOpen } = useUser();
  const { theme, notifies } = preferences;
  const { page } = router.route.value;
  return (
    <nav class="navigation" aria-label="Plexus">
      <a class="brand" href={linkTo.inbox}>
        <img src="/assets/icon.svg" alt="" width="22" height="22" />
        <span>Plexus</span>
      </a>
      <div class="links">
        {PAGES.map(({ name, to, icon, shows }) => (
          <Link
            key={name}
            to={to}
            icon={icon}
            name={name}
            isHere={shows.includes(page)}
            count={to === linkTo.inbox ? requests.pendingCount.value : 0}
          />
        ))}
      </div>
      <div class="state">
        {live.isOutdated.value && (
          <button type="button" class="button small" onClick={() => location.reload()}>
            Plexus was updated: reload
          </button>
        )}
        <p class={`connection ${live.connection.value}`} role="status">
          {CONNECTION[live.connection.value]}
        </p>
        <p class="caller">{caller.name}</p>
        <div class="tools">
          <Tool icon="find" name="Search and commands" onClick={() => (isPaletteOpen.value = true)} />
          <Tool icon="help" name="Keys" onClick={() => (isHelpOpen.value = true)} />
          <Tool
            icon="bell"
            name={notifies.value === "yes" ? "Notifications: on" : "Notifications: off"}
            isOn={notifies.value === "yes"}
            onClick={() => void notifier.want(notifies.value === "no")}
          />
          <Tool
            icon="theme"
            name={`Colours: ${theme.value}`}
            isOn={theme.value !== "system"}
            onClick={() => (theme.value = NEXT_THEME[theme.value])}
          />
          <Tool icon="leave" name="Sign out" onClick={() => void signOut()} />
        </div>
      </div>
    </nav>
  );
}

type LinkProps = { to: string; icon: IconName; name: string; isHere: boolean; count?: number };

function Link({ to, icon, name, isHere, count = 0 }: LinkProps) {
  return (
    <a href={to} aria-current={isHere ? "page" : undefined}>
      <Icon name={icon} />
      <span>{name}</span>
      {count > 0 && <span class="badge-count">{count > 999 ? "999+" : count}</span>}
    </a>
  );
}

type ToolProps = { icon: IconName; name: string; isOn?: boolean; onClick: () => void };

function Tool({ icon, name, isOn = false, onClick }: ToolProps) {
  return (
    <button
      type="button"
      class={isOn ? `icon-button ${icon} on` : `icon-button ${icon}`}
      aria-label={name}
      title={name}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
