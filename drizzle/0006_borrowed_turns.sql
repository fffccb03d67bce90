ALTER TABLE `sessions` ADD `servers_from` text;--> statement-breakpoint
ALTER TABLE `turns` ADD `is_borrowed` integer DEFAULT false NOT NULL;