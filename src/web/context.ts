import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Page } from "./page.ts";
import type { User } from "./user.ts";

export const PageContext = createContext<Page | undefined>(undefined);
export const UserContext = createContext<User | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("This is shown outside of a page.");
  return page;
}

/** The state of the signed-in person. */
export function useUser(): User {
  const user = useContext(UserContext);
  if (!user) throw new Error("This is shown to nobody who is signed in.");
  return user;
}
