CREATE TABLE `sign_in_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`token_id` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`token_id`) REFERENCES `tokens`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sign_in_codes_token` ON `sign_in_codes` (`token_id`);--> statement-breakpoint
CREATE TABLE `turn_shares` (
	`owner` text PRIMARY KEY NOT NULL,
	`last_start` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `held_by` text;--> statement-breakpoint
ALTER TABLE `loopback_approvals` ADD `held_until` integer;--> statement-breakpoint
INSERT INTO `turn_shares` (`owner`, `last_start`) SELECT `owner`, row_number() OVER (ORDER BY max(`started_at`)) FROM `turns` WHERE `status` = 'running' GROUP BY `owner`;
