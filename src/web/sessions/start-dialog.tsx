import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { chat, createSession } from "../../contract/routes/sessions.ts";
import type { SessionSummary } from "../../contract/sessions/session-view.ts";
import { SUPERVISION_MEANING, Supervision } from "../../contract/sessions/supervision.ts";
import { MAX_NAME_CHARS } from "../../contract/values.ts";
import { usePage, useUser } from "../context.ts";
import { Dialog } from "../shared/elements/dialog.tsx";
import { reasonOf } from "../shared/reason.ts";
import { linkTo } from "../shared/route.ts";
import { TemplateChoice, TemplateSaving } from "./template-fields.tsx";

/** The names that Claude Code gives its models, independent of their versions. */
const MODELS = ["opus", "sonnet", "haiku"];
const MAX_DIRECTORIES = 20;

/** Starts a session with its first prompt. */
export function StartDialog({ onClose }: { onClose: () => void }) {
  const { api, announcer } = usePage();
  const { sessions, watch } = useUser().sessions;
  useEffect(watch, []);
  const form = useRef<HTMLFormElement>(null);
  const problem = useSignal("");
  const isBusy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const field = (name: string) => String(form.get(name) ?? "").trim();
    isBusy.value = true;
    problem.value = "";
    try {
      const { id } = await api.call(createSession, {
        body: {
          name: field("name") || freeName(field("working_dir"), sessions.peek()),
          working_dir: field("working_dir") || null,
          model: field("model") || null,
          supervision: Supervision.parse(field("supervision")),
        },
      });
      const prompt = field("prompt");
      const turn = prompt ? await api.call(chat, { params: { key: id }, body: { prompt } }) : undefined;
      if (turn?.type === "queued") {
        const text = `All slots are taken: the turn is queued, in place ${turn.place}.`;
        announcer.note({ text, link: { to: linkTo.sessions, name: "What runs" } });
      }
      location.hash = linkTo.session(id);
      onClose();
    } catch (cause) {
      problem.value = reasonOf(cause);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title="New session" onClose={onClose}>
      <form onSubmit={submit} ref={form}>
        <TemplateChoice form={form} />
        <label for="name">Name</label>
        <input
          id="name"
          name="name"
          type="text"
          placeholder="that of the directory"
          maxLength={MAX_NAME_CHARS}
          autocomplete="off"
        />
        <label for="working_dir">Working directory (else where the server was started)</label>
        <input
          id="working_dir"
          name="working_dir"
          type="text"
          list="recent-directories"
          autocomplete="off"
          spellcheck={false}
        />
        <datalist id="recent-directories">
          {recentDirectories(sessions.value).map((path) => (
            <option key={path} value={path} />
          ))}
        </datalist>
        <label for="model">Model (else Claude Code's own choice)</label>
        <input id="model" name="model" type="text" list="models" autocomplete="off" spellcheck={false} />
        <datalist id="models">
          {MODELS.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <label for="supervision">Supervision</label>
        <select id="supervision" name="supervision" defaultValue="default">
          {Supervision.options.map((option) => (
            <option key={option} value={option} selected={option === "default"}>
              {`${option}: ${SUPERVISION_MEANING[option]}`}
            </option>
          ))}
        </select>
        <label for="prompt">First prompt</label>
        <textarea id="prompt" name="prompt" rows={4} />
        <TemplateSaving form={form} />
        <p class="problem" role="alert">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="submit" class="button primary" disabled={isBusy}>
            Start
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The directories of the sessions, last used first. */
function recentDirectories(sessions: SessionSummary[]): string[] {
  const byUse = sessions.toSorted((one, other) => other.last_activity_at - one.last_activity_at);
  return [...new Set(byUse.flatMap(({ working_dir }) => working_dir ?? []))].slice(0, MAX_DIRECTORIES);
}

/** A free name from the directory's name, with a number if it is in use. */
function freeName(directory: string, sessions: SessionSummary[]): string {
  const last = directory.split("/").filter(Boolean).at(-1) ?? "";
  const base = last.replaceAll(/[^\p{L}\p{N} ._@:-]/gu, "").replace(/^[^\p{L}\p{N}]+/u, "") || "session";
  const taken = new Set(sessions.map(({ name }) => name));
  const short = base.slice(0, MAX_NAME_CHARS - 8);
  for (let number = 1; ; number++) {
    const name = number === 1 ? short : `${short}-${number}`;
    if (!taken.has(name)) return name;
  }
}
