import { signal } from "@preact/signals";
import { z } from "zod";
import { Supervision } from "../../contract/sessions/supervision.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";

const MAX_TEMPLATES = 50;
export const MAX_PROMPT_CHARS = 20_000;

/** What a new session begins with, under a name that a person gave it. */
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
 * The templates of one person, by their titles. This browser alone keeps them: they are for filling in a form, and whoever
 * signs in here as somebody else has their own.
 */
export function createTemplates(person: string, store: Pick<Storage, "getItem" | "setItem"> = localStorage) {
  const key = `plexus-templates:${person}`;
  const templates = signal<Template[]>(read());

  function read(): Template[] {
    try {
      return Stored.parse(JSON.parse(store.getItem(key) ?? "[]"));
    } catch {
      // What another version has written, or somebody by hand.
      return [];
    }
  }

  /** What another tab has saved meanwhile is kept. */
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
    /** One of the same title is replaced. */
    save(template: Template): void {
      const checked = Template.safeParse(template);
      if (!checked.success)
        throw new Error(`A template needs a name, and a prompt of at most ${MAX_PROMPT_CHARS} characters.`);
      replace(template.title, checked.data);
    },
    remove: (title: string): void => replace(title),
  };
}
