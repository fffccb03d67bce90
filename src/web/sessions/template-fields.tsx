import { useSignal } from "@preact/signals";
import { Supervision } from "../../contract/sessions/supervision.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";
import { useUser } from "../context.ts";
import { reasonOf } from "../shared/reason.ts";

const FIELDS = ["working_dir", "model", "supervision", "prompt"] as const;

/** Fills the form of a new session from a saved template. */
export function TemplateChoice({ form }: { form: { current: HTMLFormElement | null } }) {
  const { templates, remove } = useUser().templates;
  const chosen = useSignal("");
  if (templates.value.length === 0) return null;
  const fill = (title: string) => {
    chosen.value = title;
    const template = templates.peek().find((one) => one.title === title);
    if (!template) return;
    for (const name of FIELDS) {
      const field = form.current?.elements.namedItem(name);
      if (isField(field)) field.value = template[name];
    }
  };
  return (
    <>
      <label for="template">Template</label>
      <div class="with-button">
        <select id="template" value={chosen} onChange={({ currentTarget }) => fill(currentTarget.value)}>
          <option value="">none</option>
          {templates.value.map(({ title }) => (
            <option key={title} value={title}>
              {title}
            </option>
          ))}
        </select>
        {chosen.value !== "" && (
          <button
            type="button"
            class="button"
            onClick={() => {
              remove(chosen.value);
              chosen.value = "";
            }}
          >
            Remove template
          </button>
        )}
      </div>
    </>
  );
}

/** Saves the content of the form as a template. */
export function TemplateSaving({ form }: { form: { current: HTMLFormElement | null } }) {
  const { save } = useUser().templates;
  const title = useSignal("");
  const said = useSignal("");
  const keep = () => {
    const given = new FormData(form.current ?? undefined);
    const field = (name: string) => String(given.get(name) ?? "").trim();
    try {
      save({
        title: title.value.trim(),
        working_dir: field("working_dir"),
        model: field("model"),
        supervision: Supervision.parse(field("supervision")),
        prompt: field("prompt"),
      });
      said.value = `Saved in this browser as ${title.value.trim()}`;
    } catch (cause) {
      said.value = reasonOf(cause);
    }
  };
  return (
    <details class="template-saving">
      <summary>Save this as a template</summary>
      <div class="with-button">
        <input
          type="text"
          aria-label="Name of the template"
          placeholder="Name of the template"
          maxLength={MAX_NAME_CHARS}
          autocomplete="off"
          value={title}
          onInput={({ currentTarget }) => (title.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            // Otherwise Enter would start the session.
            event.preventDefault();
            keep();
          }}
        />
        <button type="button" class="button" onClick={keep}>
          Save template
        </button>
      </div>
      <p class="note" role="status">
        {said}
      </p>
    </details>
  );
}

function isField(element: unknown): element is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement
  );
}
