/** The images of this folder that belong to the page. */
export const PICTURES = [
  "icon-192.png",
  "icon-512.png",
  "icon-full-180.png",
  "icon-full-512.png",
  "badge-96.png",
] as const;

const icon = (name: (typeof PICTURES)[number], size: number, purpose: "any" | "maskable") => ({
  src: `/assets/${name}`,
  sizes: `${size}x${size}`,
  type: "image/png",
  purpose,
});

/** The web app manifest. Its addresses contain no secret: whoever opens the app signs in there. */
export const MANIFEST = {
  id: "/",
  name: "Plexus",
  short_name: "Plexus",
  description: "Decide what agents may do.",
  start_url: "/#/inbox",
  scope: "/",
  display: "standalone",
  background_color: "#ffffff",
  theme_color: "#3b5bdb",
  icons: [
    icon("icon-192.png", 192, "any"),
    icon("icon-512.png", 512, "any"),
    icon("icon-full-512.png", 512, "maskable"),
  ],
  shortcuts: [
    { name: "Inbox", url: "/#/inbox" },
    { name: "Sessions", url: "/#/sessions" },
    { name: "History", url: "/#/history" },
  ],
};
