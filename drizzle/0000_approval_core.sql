CREATE TABLE `loopback_approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`session_name` text NOT NULL,
	`owner` text NOT NULL,
	`tool_name` text NOT NULL,
	`tool_use_id` text,
	`input` text NOT NULL,
	`ask_hash` text NOT NULL,
	`status` text NOT NULL,
	`response_message` text,
	`updated_input` text,
	`interrupt` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`resolved_at` integer,
	`resolved_by` text
);
--> statement-breakpoint
CREATE INDEX `approvals_pending_by_session` ON `loopback_approvals` (`session_id`,`id`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `approvals_pending_by_deadline` ON `loopback_approvals` (`expires_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `approvals_resolved` ON `loopback_approvals` (`resolved_at`) WHERE status <> 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_same_ask` ON `loopback_approvals` (`session_id`,`tool_use_id`,`ask_hash`) WHERE tool_use_id IS NOT NULL AND status <> 'abandoned';--> statement-breakpoint
CREATE TABLE `changes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`owner` text NOT NULL,
	`session_id` text NOT NULL,
	`subject_id` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `mcp_clients` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`setup` text NOT NULL,
	`used_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `mcp_clients_used` ON `mcp_clients` (`used_at`);--> statement-breakpoint
CREATE INDEX `mcp_clients_owner` ON `mcp_clients` (`owner`);--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`tree_id` text NOT NULL,
	`parent_id` text,
	`role` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `nodes_tree` ON `nodes` (`tree_id`,`id`);--> statement-breakpoint
CREATE TABLE `read_positions` (
	`turn_id` text NOT NULL,
	`consumer` text NOT NULL,
	`position` integer NOT NULL,
	PRIMARY KEY(`turn_id`, `consumer`),
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`owner` text NOT NULL,
	`kind` text NOT NULL,
	`loopback_timeout_secs` integer,
	`created_at` integer NOT NULL,
	`config` text,
	`claude_session_id` text,
	`total_cost_usd` real DEFAULT 0 NOT NULL,
	`forked_from` text,
	`tree_id` text,
	`head_node_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_owner_name` ON `sessions` (`owner`,`name`);--> statement-breakpoint
CREATE TABLE `tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`name` text,
	`session_id` text,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tokens_name` ON `tokens` (`name`) WHERE kind = 'named';--> statement-breakpoint
CREATE INDEX `tokens_session` ON `tokens` (`session_id`);--> statement-breakpoint
CREATE TABLE `turn_events` (
	`turn_id` text NOT NULL,
	`seq` integer NOT NULL,
	`event` text NOT NULL,
	PRIMARY KEY(`turn_id`, `seq`),
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `turns` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`owner` text NOT NULL,
	`status` text NOT NULL,
	`ephemeral` integer NOT NULL,
	`event_count` integer DEFAULT 0 NOT NULL,
	`output_offset` integer DEFAULT 0 NOT NULL,
	`pid` integer,
	`process_start` text,
	`usage` text,
	`error` text,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `turns_running` ON `turns` (`session_id`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `turns_session` ON `turns` (`session_id`,`id`);--> statement-breakpoint
CREATE INDEX `turns_ended` ON `turns` (`ended_at`) WHERE status <> 'running';