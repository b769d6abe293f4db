-- Hashes of personal content can be tried out by whoever guesses the content. Decision documents carry a random salt from now on;
-- an item of a batch keeps no document, so its salt stands beside its hash. NULL: an item of before, whose document had none.
-- Processes of the release before go on writing items without a salt until they are replaced, hence no constraint asks for one.
-- Safe on a large table: a column without a default is added without reading a row.
alter table app.batch_item add column document_salt text;

-- The hash of a file of people was kept longer than the file. It is read from the upload from now on and goes with it.
-- Rows of all tenants are changed by their owner, which forced row security would hide from it; both tables have one row a file.
select set_config('app.restoring', 'on', true);
alter table app.subject_bulk no force row level security;
alter table app.batch_evaluation no force row level security;
update app.subject_bulk set source = source - 'sha256' where source ? 'sha256';
update app.batch_evaluation set source = source - 'sha256' where source ? 'sha256';
alter table app.subject_bulk force row level security;
alter table app.batch_evaluation force row level security;
select set_config('app.restoring', '', true);
