import { signal } from "@preact/signals";
import { z } from "zod";
import { Supervision } from "../../contract/sessions/supervision.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";

const MAX_TEMPLATES = 50;
export const MAX_PROMPT_CHARS = 20_000;

/** The initial values of a new session, saved under a title. */
const Template = z.strictObject({
  title: z.string().min(1).max(MAX_NAME_CHARS),
  working_dir: z.string(),
  model: z.string(),
  supervision: Supervision,
  prompt: z.string().max(MAX_PROMPT_CHARS),
});
export type Template = z.infer<typeof Template>;
const Stored = z.array(Template).max(MAX_TEMPLATES);

export type Templates = ReturnType<typeof createTemplates>;

/**
 * The templates of one person, by title. Only this browser stores them: they just fill in a form. Every person who
 * signs in here has separate ones.
 */
export function createTemplates(person: string, store: Pick<Storage, "getItem" | "setItem"> = localStorage) {
  const key = `plexus-templates:${person}`;
  const templates = signal<Template[]>(read());

  function read(): Template[] {
    try {
      return Stored.parse(JSON.parse(store.getItem(key) ?? "[]"));
    } catch {
      // Another version may have written the value, or someone edited it.
      return [];
    }
  }

  /** Reads the stored list again, to keep what another tab saved meanwhile. */
  function replace(title: string, ...by: Template[]): void {
    const others = read().filter((one) => one.title !== title);
    const next = [...others, ...by].toSorted((one, other) => one.title.localeCompare(other.title));
    if (next.length > MAX_TEMPLATES)
      throw new Error(`There are ${MAX_TEMPLATES} templates, and no more are kept: remove one first.`);
    store.setItem(key, JSON.stringify(next));
    templates.value = next;
  }

  return {
    templates,
    /** Replaces a template with the same title. */
    save(template: Template): void {
      const checked = Template.safeParse(template);
      if (!checked.success)
        throw new Error(`A template needs a name, and a prompt of at most ${MAX_PROMPT_CHARS} characters.`);
      replace(template.title, checked.data);
    },
    remove: (title: string): void => replace(title),
  };
}
