import { useUser } from "../context.ts";
import { Icon } from "../shared/elements/icons.tsx";
import { Visible } from "../shared/elements/visible.tsx";

/** Shown on every page while the operator's rules file has a mistake. */
export function RulesFileBanner() {
  const status = useUser().rulesFile.status.value;
  if (!status || status.ok) return null;
  return (
    <section class="banner" aria-label="The rules file has a mistake">
      <Icon name="warning" />
      <div role="alert">
        <p>
          <b>The rules file has a mistake: what it allows is switched off until it is corrected.</b>{" "}
          <code>
            <Visible text={status.path} />
          </code>
        </p>
        <ul>
          {status.problems.map((problem) => (
            <li key={problem}>
              <Visible text={problem} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
