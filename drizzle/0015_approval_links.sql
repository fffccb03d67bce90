CREATE TABLE `approval_links` (
	`id` text PRIMARY KEY NOT NULL,
	`approval_id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`verdict` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`approval_id`) REFERENCES `loopback_approvals`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `approval_links_approval` ON `approval_links` (`approval_id`);--> statement-breakpoint
CREATE INDEX `approval_links_expired` ON `approval_links` (`expires_at`);