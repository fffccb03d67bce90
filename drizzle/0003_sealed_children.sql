CREATE TABLE `audit` (
	`chain` text NOT NULL,
	`seq` integer NOT NULL,
	`approval_id` text,
	`at` integer NOT NULL,
	`entry` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`chain`, `seq`)
);
--> statement-breakpoint
CREATE TABLE `audit_checkpoints` (
	`chain` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`hash` text NOT NULL,
	`chained_since` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `unasked_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`turn_id` text NOT NULL,
	`session_id` text NOT NULL,
	`session_name` text NOT NULL,
	`owner` text NOT NULL,
	`tool_name` text NOT NULL,
	`tool_use_id` text NOT NULL,
	`input` text NOT NULL,
	`supervision` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`turn_id`) REFERENCES `turns`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `unasked_calls_turn` ON `unasked_calls` (`turn_id`);--> statement-breakpoint
DROP INDEX `approvals_resolved`;--> statement-breakpoint
DROP INDEX `approvals_same_ask`;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `asked_in` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `is_builtin` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `delivered_at` integer;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `result_at` integer;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `audit_seq` integer;--> statement-breakpoint
UPDATE `loopback_approvals` SET
	`asked_in` = coalesce((SELECT `turns`.`id` FROM `turns` WHERE `turns`.`session_id` = `loopback_approvals`.`session_id` AND `turns`.`status` = 'running' AND `turns`.`started_at` <= `loopback_approvals`.`created_at`), `session_id`),
	`delivered_at` = CASE WHEN `status` <> 'pending' THEN `resolved_at` END;--> statement-breakpoint
CREATE INDEX `approvals_by_people` ON `loopback_approvals` (`id`) WHERE is_builtin = 0;--> statement-breakpoint
CREATE INDEX `approvals_unchained` ON `loopback_approvals` (`resolved_at`) WHERE status <> 'pending' AND audit_seq IS NULL;--> statement-breakpoint
CREATE INDEX `approvals_without_result` ON `loopback_approvals` (`asked_in`,`tool_use_id`) WHERE result_at IS NULL AND asked_in <> session_id;--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_same_ask` ON `loopback_approvals` (`asked_in`,`tool_use_id`,`ask_hash`) WHERE tool_use_id IS NOT NULL AND delivered_at IS NULL AND status <> 'abandoned';--> statement-breakpoint
ALTER TABLE `turns` ADD `unasked` integer DEFAULT 0 NOT NULL;