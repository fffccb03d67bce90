ALTER TABLE `loopback_approvals` ADD `asked_seq` integer;--> statement-breakpoint
CREATE INDEX `approvals_interrupting` ON `loopback_approvals` (`asked_in`,`id`) WHERE interrupt = 1;