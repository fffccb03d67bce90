CREATE TABLE `call_outlines` (
	`id` text PRIMARY KEY NOT NULL,
	`outline_key` text NOT NULL,
	`outline` text,
	FOREIGN KEY (`id`) REFERENCES `loopback_approvals`(`id`) ON UPDATE no action ON DELETE cascade
);
