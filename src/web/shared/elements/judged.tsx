import { Icon } from "./icons.tsx";
import { Visible } from "./visible.tsx";

/** The dangers of a call, in words that follow "it". */
export function Dangers({ reasons }: { reasons: string[] }) {
  if (reasons.length === 0) return null;
  return (
    <ul class="dangers" aria-label="Dangers">
      {reasons.map((reason) => (
        <li>
          <Icon name="warning" /> <Visible text={reason} />
        </li>
      ))}
    </ul>
  );
}

/** The real paths of a call, if they differ from the written ones. */
export function RealPaths({ paths }: { paths: string[] }) {
  return (
    <>
      {paths.map((path) => (
        <p class="real-path">
          real path:{" "}
          <code>
            <Visible text={path} />
          </code>
        </p>
      ))}
    </>
  );
}

export function WorkingDir({ path }: { path: string | null }) {
  if (path === null) return null;
  return (
    <p class="working-dir">
      in{" "}
      <code>
        <Visible text={path} />
      </code>
    </p>
  );
}
