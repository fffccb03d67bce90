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
    // The page is not started: this document signs no one in, and uses no token of this tab.
    <PageContext.Provider value={createPage()}>
      <LinkPage link={link} />
    </PageContext.Provider>,
    root,
  );
}
