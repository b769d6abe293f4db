-- Words of the names of lists, matrices, rules, types and people, for search. A search is a range of the key, which an index answers
-- under row-level security: only leakproof operators can, which excludes pg_trgm and full-text search. Triggers write the rows, so that
-- every writer is covered, also a process of the previous release.
-- Safe on large tables: names of lists, types and people are read once; nothing else is locked for longer than an instant.

-- The words of a text without case and accents, as they are compared. At most 32 words of at most 64 characters.
create function app.name_words(name text) returns text[]
  language sql immutable parallel safe
  return coalesce((select array_agg(distinct left(w.word, 64))
    from (select word from regexp_split_to_table(
            lower(regexp_replace(normalize(name, nfkd), '[\u0300-\u036f]', '', 'g')), '[^[:alnum:]]+') as s (word)
           where word <> '' limit 32) w), '{}');

create table app.name_word (
  tenant_id uuid not null,
  -- 'type', 'user', or the family of a definition.
  kind      text collate "C" not null,
  word      text collate "C" not null,
  object_id text collate "C" not null,
  constraint name_word_pkey primary key (tenant_id, kind, word, object_id),
  -- Searches cast the ids of everything but types.
  constraint name_word_object_ck check (kind = 'type' or object_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
);
select app.wall('app.name_word', 'shared');
revoke update on app.name_word from app, steward;
create index name_word_object_idx on app.name_word (tenant_id, kind, object_id, word);

create function app.keep_name_words(tenant uuid, of_kind text, object text, name text) returns void
  language plpgsql as $$
declare
  wanted constant text[] := app.name_words(name);
begin
  -- A restore brings the words back as they were.
  if app.restoring() then return; end if;
  delete from app.name_word
   where tenant_id = tenant and kind = of_kind and object_id = object and word <> all (wanted);
  insert into app.name_word (tenant_id, kind, word, object_id)
  select tenant, of_kind, w.word, object from unnest(wanted) as w (word)
  on conflict on constraint name_word_pkey do nothing;
end $$;

create function app.keep_dataset_words() returns trigger
  language plpgsql as $$
begin
  perform app.keep_name_words(new.tenant_id, new.family, new.dataset_id::text, new.title || ' ' || new.list_key);
  return null;
end $$;
create trigger dataset_words_new after insert on app.dataset
  for each row when (new.role = 'base') execute function app.keep_dataset_words();
create trigger dataset_words after update of title on app.dataset
  for each row when (new.role = 'base' and old.title is distinct from new.title) execute function app.keep_dataset_words();

-- A type is found by the title of its latest version.
create function app.keep_type_words() returns trigger
  language plpgsql as $$
begin
  perform app.keep_name_words(new.tenant_id, 'type', new.type_key,
    coalesce(new.definition ->> 'title', '') || ' ' || new.type_key);
  return null;
end $$;
create trigger dataset_type_words after insert on app.dataset_type for each row execute function app.keep_type_words();

create function app.keep_user_words() returns trigger
  language plpgsql as $$
begin
  perform app.keep_name_words(new.tenant_id, 'user', new.user_id::text, new.name || ' ' || coalesce(new.email, ''));
  return null;
end $$;
create trigger user_account_words_new after insert on app.user_account
  for each row execute function app.keep_user_words();
create trigger user_account_words after update of name, email on app.user_account
  for each row when (old.name is distinct from new.name or old.email is distinct from new.email)
  execute function app.keep_user_words();

create function app.remove_user_words() returns trigger
  language plpgsql as $$
begin
  perform app.keep_name_words(old.tenant_id, 'user', old.user_id::text, '');
  return null;
end $$;
create trigger user_account_words_gone after delete on app.user_account
  for each row execute function app.remove_user_words();

-- Rows of all tenants are read and written by their owner, which forced row security would hide from it.
alter table app.dataset no force row level security;
alter table app.dataset_type no force row level security;
alter table app.user_account no force row level security;
alter table app.name_word no force row level security;
insert into app.name_word (tenant_id, kind, word, object_id)
select d.tenant_id, d.family, w.word, d.dataset_id::text
  from app.dataset d cross join lateral unnest(app.name_words(d.title || ' ' || d.list_key)) as w (word) where d.role = 'base'
union
select t.tenant_id, 'type', w.word, t.type_key
  from (select distinct on (tenant_id, type_key) tenant_id, type_key, definition ->> 'title' as title
          from app.dataset_type order by tenant_id, type_key, type_version desc) t
 cross join lateral unnest(app.name_words(coalesce(t.title, '') || ' ' || t.type_key)) as w (word)
union
select u.tenant_id, 'user', w.word, u.user_id::text
  from app.user_account u cross join lateral unnest(app.name_words(u.name || ' ' || coalesce(u.email, ''))) as w (word);
alter table app.dataset force row level security;
alter table app.dataset_type force row level security;
alter table app.user_account force row level security;
alter table app.name_word force row level security;

-- Last, because it refuses what the statement above does.
create trigger name_word_keep before insert on app.name_word for each row execute function app.refuse_by_hand();
