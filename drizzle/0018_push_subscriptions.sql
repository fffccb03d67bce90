CREATE TABLE `push_subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_id` text NOT NULL,
	`endpoint` text NOT NULL,
	`p256dh` text NOT NULL,
	`auth` text NOT NULL,
	`after_ms` integer NOT NULL,
	`created_at` integer NOT NULL,
	`told_id` text NOT NULL,
	FOREIGN KEY (`token_id`) REFERENCES `tokens`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_subscriptions_endpoint` ON `push_subscriptions` (`endpoint`);--> statement-breakpoint
CREATE UNIQUE INDEX `push_subscriptions_token` ON `push_subscriptions` (`token_id`);