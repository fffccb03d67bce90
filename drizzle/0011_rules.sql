CREATE TABLE `rule_hits` (
	`id` text PRIMARY KEY NOT NULL,
	`hits` integer NOT NULL,
	`last_hit_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `rules` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text,
	`session_id` text,
	`is_setting` integer NOT NULL,
	`decision` text NOT NULL,
	`match` text NOT NULL,
	`reason` text,
	`interrupt` integer NOT NULL,
	`mode` text NOT NULL,
	`created_by` text NOT NULL,
	`created_by_name` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`uses_left` integer,
	`from_approval_id` text,
	`hits` integer DEFAULT 0 NOT NULL,
	`last_hit_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `rules_session` ON `rules` (`session_id`);--> statement-breakpoint
CREATE INDEX `rules_created_by` ON `rules` (`created_by`);--> statement-breakpoint
CREATE INDEX `rules_expiring` ON `rules` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `rules_version` (
	`id` integer PRIMARY KEY NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `shadow_hits` (
	`rule_id` text NOT NULL,
	`approval_id` text NOT NULL,
	PRIMARY KEY(`rule_id`, `approval_id`),
	FOREIGN KEY (`rule_id`) REFERENCES `rules`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`approval_id`) REFERENCES `loopback_approvals`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `shadow_hits_approval` ON `shadow_hits` (`approval_id`);--> statement-breakpoint
ALTER TABLE `tokens` ADD `grant` text;--> statement-breakpoint
CREATE INDEX `approvals_denied` ON `loopback_approvals` (`asked_in`,`ask_hash`,`id`) WHERE status = 'denied';