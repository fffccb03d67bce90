import "./jitless.ts";
import "./styles/page.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { signIn, takeLaterCodes } from "./sign-in.tsx";

const root = document.getElementById("plexus");
if (root) render(<App />, root);
takeLaterCodes();
void signIn();
