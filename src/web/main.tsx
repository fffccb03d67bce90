import "./zod-csp.ts";
import "./styles/page.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { PageContext } from "./context.ts";
import { createPage } from "./page.ts";

const root = document.getElementById("plexus");
if (root) {
  const page = createPage();
  render(
    <PageContext.Provider value={page}>
      <App />
    </PageContext.Provider>,
    root,
  );
  page.start();
}
