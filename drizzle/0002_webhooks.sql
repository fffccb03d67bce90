CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
