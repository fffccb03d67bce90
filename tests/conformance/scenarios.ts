/** What any server must pass, whatever its tools and resources are: these run against Plexus' own too. */
export const TRANSPORT_SCENARIOS = [
  "dns-rebinding-protection",
  "logging-set-level",
  "ping",
  "resources-list",
  "server-initialize",
  "server-sse-multiple-streams",
  "tools-list",
];

/** What the other active scenarios call, none of which Plexus' own server has. */
export const FIXTURE_SCENARIOS: Record<string, string> = {
  "completion-complete": "completions: Plexus has no prompts to complete",
  "elicitation-sep1034-defaults": "the tool test_elicitation_sep1034_defaults",
  "elicitation-sep1330-enums": "the tool test_elicitation_sep1330_enums",
  "prompts-get-embedded-resource": "the prompt test_prompt_with_embedded_resource",
  "prompts-get-simple": "the prompt test_simple_prompt",
  "prompts-get-with-args": "the prompt test_prompt_with_arguments",
  "prompts-get-with-image": "the prompt test_prompt_with_image",
  "prompts-list": "prompts: Plexus offers none",
  "resources-read-binary": "the resource test://static-binary",
  "resources-read-text": "the resource test://static-text",
  "resources-subscribe": "the resource test://watched-resource: Plexus refuses to watch what it has not",
  "resources-templates-read": "the resource template test://template/{id}/data",
  "resources-unsubscribe": "the resource test://watched-resource",
  "tools-call-audio": "the tool test_audio_content",
  "tools-call-elicitation": "the tool test_elicitation",
  "tools-call-embedded-resource": "the tool test_embedded_resource",
  "tools-call-error": "the tool test_error_handling: that Plexus has no such tool would pass for its error",
  "tools-call-image": "the tool test_image_content",
  "tools-call-mixed-content": "the tool test_multiple_content_types",
  "tools-call-sampling": "the tool test_sampling",
  "tools-call-simple-text": "the tool test_simple_text",
  "tools-call-with-logging": "the tool test_tool_with_logging",
  "tools-call-with-progress": "the tool test_tool_with_progress",
};

export const ACTIVE_SCENARIOS = [...TRANSPORT_SCENARIOS, ...Object.keys(FIXTURE_SCENARIOS)].sort();
