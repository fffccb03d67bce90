import "../zod-csp.ts";
import "../styles/page.css";
import "../styles/link.css";
import { render } from "preact";
import { PageContext } from "../context.ts";
import { createPage } from "../page.ts";
import { createLink } from "./link.ts";
import { LinkPage } from "./link-page.tsx";

const root = document.getElementById("plexus");
if (root) {
  const link = createLink();
  render(
    // Not started: nobody signs in here, and no token of this tab is used.
    <PageContext.Provider value={createPage()}>
      <LinkPage link={link} />
    </PageContext.Provider>,
    root,
  );
}
