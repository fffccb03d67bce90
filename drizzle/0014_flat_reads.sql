CREATE INDEX `approvals_of_session` ON `loopback_approvals` (`session_id`,`is_builtin`,`id`);--> statement-breakpoint
CREATE INDEX `approvals_of_owner` ON `loopback_approvals` (`owner`,`is_builtin`,`id`) WHERE owner <> 'operator';--> statement-breakpoint
CREATE INDEX `approvals_of_tool` ON `loopback_approvals` (`tool_name`,`is_builtin`,`id`);--> statement-breakpoint
CREATE INDEX `changes_of_owner` ON `changes` (`owner`,`id`) WHERE owner <> 'operator';--> statement-breakpoint
CREATE INDEX `sessions_of_owner` ON `sessions` (`owner`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_tree` ON `sessions` (`tree_id`) WHERE tree_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `turns_owner` ON `turns` (`owner`,`id`) WHERE owner <> 'operator';--> statement-breakpoint
CREATE INDEX `unasked_calls_session` ON `unasked_calls` (`session_id`,`id`);--> statement-breakpoint
CREATE INDEX `unasked_calls_owner` ON `unasked_calls` (`owner`,`id`);