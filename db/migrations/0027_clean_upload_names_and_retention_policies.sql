-- Names of uploads are stored without a path, control characters or characters that change the direction of text: they are shown to
-- people and written into logs and reports. A trigger does it, so that every writer is covered, also a process of the previous release.
-- Retention policies name only classes of record that housekeeping acts on.
-- Safe on large tables: one index or table scan each of uploads, imports and policies; nothing is rewritten but rows that change.

create function app.clean_file_name(name text) returns text
  language sql immutable parallel safe
  return nullif(nullif(nullif(left(btrim(
    -- C0, delete and C1; soft hyphen; bidirectional marks, embeddings, overrides and isolates; zero-width space and joiner of words;
    -- line and paragraph separators; byte order mark.
    regexp_replace(
      regexp_replace(
        normalize(name, nfc),
        '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]', '', 'g'),
      '^.*[/\\](?=[^/\\])|[/\\]+$', '', 'g')), 255), ''), '.'), '..');

create function app.clean_upload_name() returns trigger
  language plpgsql as $$
begin
  new.file_name := app.clean_file_name(new.file_name);
  return new;
end $$;
create trigger upload_name before insert or update of file_name on app.upload
  for each row execute function app.clean_upload_name();

alter table app.upload no force row level security;
update app.upload set file_name = app.clean_file_name(file_name)
 where file_name is distinct from app.clean_file_name(file_name);
alter table app.upload force row level security;

alter table app.dataset_import no force row level security;
update app.dataset_import
   set source = jsonb_set(source, '{file_name}', coalesce(to_jsonb(app.clean_file_name(source ->> 'file_name')), 'null'))
 where source ->> 'file_name' is distinct from app.clean_file_name(source ->> 'file_name');
alter table app.dataset_import force row level security;

alter table app.subject_bulk no force row level security;
update app.subject_bulk
   set source = jsonb_set(source, '{file_name}', coalesce(to_jsonb(app.clean_file_name(source ->> 'file_name')), 'null'))
 where source ->> 'file_name' is distinct from app.clean_file_name(source ->> 'file_name');
alter table app.subject_bulk force row level security;

-- A class that nothing removes promised what did not happen; the audit record has always been kept for ever.
alter table app.retention_policy no force row level security;
update app.retention_policy
   set classes = (select coalesce(jsonb_agg(case when item ->> 'record_class' = 'audit' then item || '{"keep_days": null}' else item end
                                            order by place), '[]')
                    from jsonb_array_elements(classes) with ordinality as listed (item, place)
                   where item ->> 'record_class' in ('jobs', 'import-rejects', 'audit')),
       revision = revision + 1, updated_at = now(), updated_by = 'operator:migrate'
 where jsonb_path_exists(classes,
         '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "audit")
                  || (@.record_class == "audit" && @.keep_days != null))');
alter table app.retention_policy force row level security;

alter table app.retention_policy add constraint retention_policy_classes_ck
  check (not jsonb_path_exists(classes,
    '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "audit")
             || (@.record_class == "audit" && @.keep_days != null))'));
