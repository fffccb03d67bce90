import { join } from "node:path";
import { startBrowser } from "../tests/web/support/chromium.ts";

const PLACE = join(import.meta.dir, "../src/web/install");
const ICON = join(import.meta.dir, "../src/web/icon.svg");

/**
 * How each picture is derived from the icon: phones crop a full-bleed icon to their own shape, and tint one that is
 * only a shape.
 */
const PICTURES: Record<string, { size: number; drawn: (icon: string) => string }> = {
  "icon-192.png": { size: 192, drawn: (icon) => icon },
  "icon-512.png": { size: 512, drawn: (icon) => icon },
  "icon-full-180.png": { size: 180, drawn: full },
  "icon-full-512.png": { size: 512, drawn: full },
  "badge-96.png": { size: 96, drawn: (icon) => icon.replace(/<rect [^>]*>/, "") },
};

/** Renders the page's app icons from its icon. */
await using browser = await startBrowser();
const icon = await Bun.file(ICON).text();
for (const [name, { size, drawn }] of Object.entries(PICTURES)) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const svg = Buffer.from(drawn(icon)).toString("base64");
  await page.setContent(`<style>*{margin:0}img{display:block;width:${size}px}</style>
    <img src="data:image/svg+xml;base64,${svg}">`);
  await page.locator("img").screenshot({ path: join(PLACE, name), omitBackground: true });
  await page.close();
}

/** Fills the square to its edges, with the drawing inside the circle that every crop keeps. */
function full(svg: string): string {
  const square = svg.replace(/ rx="\d+"/, "");
  return square.replace(
    /(<rect [^>]*>)(.*)(<\/svg>)/,
    '$1<g transform="translate(16 16) scale(.84) translate(-16 -16)">$2</g>$3',
  );
}
