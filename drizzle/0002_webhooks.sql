CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `changes_turn_ended` ON `changes` (`id`) WHERE kind = 'turn_ended';