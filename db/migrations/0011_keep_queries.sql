-- A change that waits is kept with its query too: approving executes the whole request, the reason given with a DELETE included.

alter table app.change_request add column query jsonb not null default '{}';
