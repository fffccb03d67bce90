import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { getVersion, type NewestVersion } from "../../contract/routes/server.ts";
import { usePage, useUser } from "../context.ts";
import { OPERATOR } from "../rules/rule-list.ts";
import { moment } from "../shared/clock.ts";

/** The running version, and a newer one if the operator configured a source of versions. */
export function VersionSettings() {
  const { api } = usePage();
  const { caller } = useUser();
  const newest = useSignal<NewestVersion | undefined>(undefined);
  const isOperator = caller.name === OPERATOR;
  useEffect(() => {
    if (!isOperator) return;
    // Other parts of the page report a server that does not answer.
    api.call(getVersion).then(
      (found) => {
        newest.value = found.newest;
      },
      () => undefined,
    );
  }, [isOperator]);
  return (
    <section class="setting" aria-labelledby="version">
      <h2 id="version">Version</h2>
      <p>Plexus {caller.version}</p>
      {newest.value && <Newest newest={newest.value} />}
    </section>
  );
}

function Newest({ newest }: { newest: NewestVersion }) {
  switch (newest.state) {
    case "known":
      if (!newest.is_newer) return <p class="note">It is the newest one, as of {moment(newest.checked_at)}.</p>;
      return (
        <>
          <p role="status">
            <b>Plexus {newest.version} is there.</b>
          </p>
          <HowToUpdate />
        </>
      );
    case "unknown":
      return <p class="note">Where newer versions are told of, nothing was found at {moment(newest.checked_at)}.</p>;
    case "not_asked":
      return (
        <>
          <p class="note">
            Plexus asks nobody whether there is a newer one. <code>plexus serve --update-source URL</code> reads the URL
            once a day at most, while this page is opened.
          </p>
          <HowToUpdate />
        </>
      );
  }
}

function HowToUpdate() {
  return (
    <p class="note">
      To update, run the installer again, then restart the service, or run <code>plexus serve --takeover</code>:
      children keep running. <code>plexus backup FILE</code> first lets you go back.
    </p>
  );
}
