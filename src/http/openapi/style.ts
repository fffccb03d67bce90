/** The style of the docs page, for phones, dark mode and print. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: light-dark(#0b57d0, #8ab4f8); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.25rem 4rem; font: 1rem/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { margin: 2.25rem 0 .25rem; font-size: 1rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
code, pre { font: .875rem/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .4rem; margin: .4rem 0; }
nav ul { columns: 18rem; padding-left: 1.1rem; }
.method { display: inline-block; min-width: 4.2rem; text-transform: uppercase; color: var(--accent); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
.scroll + .scroll { margin-top: 1.5rem; }
[id] { scroll-margin-top: 1rem; }
h4 { margin: 1.1rem 0 .3rem; }
td:first-child { white-space: nowrap; }
dt { font-weight: 600; margin-top: .75rem; }
dd { margin: 0; }
`;
