-- Which files an import read, in which encoding, which it did not read and which were said to be absent.
alter table app.dataset_import add column files jsonb not null default '[]'
  constraint dataset_import_files_ck check (jsonb_typeof(files) = 'array');
