-- An erasure finds rows by whom they belong to, and words only where a row belongs to nobody. See docs/adr/0067-hold-and-erase.md.

-- Finding ------------------------------------------------------------------------------------------------------------

-- As texts and names are compared: composed, in lower case, with one space between words. Letters that capitals do not distinguish are alike:
-- the sharp s, the dotless and dotted i, the final sigma.
create function app.fold_text(content text) returns text
  language plpgsql immutable parallel safe as $$
begin
  return regexp_replace(
    translate(replace(replace(lower(normalize(content, nfc)), U&'i\0307', 'i'), U&'\00df', 'ss'), U&'\0131\03c2', U&'i\03c3'),
    '[\s_\u00a0\u2000-\u200b\u3000]+', ' ', 'g');
end $$;

-- Letters and digits of scripts that separate words, by code point: the same on every server, whatever its locale. Chinese, Japanese, Korean,
-- Thai, Lao, Burmese and Khmer texts have no such boundaries.
create function app.is_word_character(symbol text) returns boolean
  language plpgsql immutable parallel safe as $$
declare
  code constant integer := ascii(symbol);
begin
  return code between 48 and 57 or code between 97 and 122
      or code >= 192 and code not in (215, 247)
         and not (code between 3584 and 3839 or code between 4096 and 4255 or code between 6016 and 6143 or code between 8192 and 11263
                  or code between 11904 and 55295 or code between 63744 and 64255 or code between 65040 and 65135
                  or code between 65280 and 65295 or code >= 131072);
end $$;

-- Whether the characters at the edge of a word make it part of a longer one. A hyphen joins two words, except loosely.
create function app.is_joined(edge text, neighbour text, beyond text, loosely boolean) returns boolean
  language plpgsql immutable parallel safe as $$
begin
  return app.is_word_character(edge)
     and (app.is_word_character(neighbour) or (not loosely and neighbour = '-' and app.is_word_character(beyond)));
end $$;

-- Whether a text contains one of the marks as whole words, and not inside an id, a time or a hash. Marks are folded.
drop function app.mentions(text, text[]);
create function app.mentions(content text, marks text[], loosely boolean) returns boolean
  language plpgsql immutable parallel safe as $$
declare
  codes constant text := '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\m[0-9a-f]{32,}\M|'
    || '\m[0-9]{4}-[0-9]{2}-[0-9]{2}([t ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(z|[+-][0-9]{2}(:?[0-9]{2})?)?)?';
  folded constant text := app.fold_text(content);
  without_codes text;
  searched text;
  mark text;
  place integer;
  before integer;
begin
  if folded is null then return false; end if;
  foreach mark in array marks loop
    continue when mark = '' or strpos(folded, mark) = 0;
    if mark ~ codes then
      searched := '  ' || folded || '  ';
    else
      without_codes := coalesce(without_codes, '  ' || regexp_replace(folded, codes, ' ', 'g') || '  ');
      searched := without_codes;
    end if;
    before := 0;
    loop
      place := strpos(substr(searched, before + 1), mark);
      exit when place = 0;
      place := before + place;
      if not app.is_joined(left(mark, 1), substr(searched, place - 1, 1), substr(searched, place - 2, 1), loosely)
         and not app.is_joined(right(mark, 1), substr(searched, place + length(mark), 1), substr(searched, place + length(mark) + 1, 1), loosely) then
        return true;
      end if;
      before := place;
    end loop;
  end loop;
  return false;
end $$;

-- Texts and names of members, one on each line.
create function app.json_texts(content jsonb) returns text
  language plpgsql immutable parallel safe as $$
begin
  return (select string_agg(t.value #>> '{}', E'\n')
            from (select value from jsonb_path_query(content, 'strict $.** ? (@.type() == "string")') as value
                  union all
                  select value from jsonb_path_query(content, 'strict $.** ? (@.type() == "object").keyvalue().key') as value) t);
end $$;

-- The same of a text that may be JSON.
create function app.json_texts(content text) returns text
  language plpgsql immutable parallel safe as $$
begin
  return app.json_texts(content::jsonb);
exception when invalid_text_representation or untranslatable_character then
  return content;
end $$;

-- Whether an object of the JSON describes a subject by one of these names and external ids, however short they are.
create function app.describes(content jsonb, own text[]) returns boolean
  language plpgsql immutable parallel safe as $$
begin
  return exists (select 1 from jsonb_path_query(content, 'strict $.** ? (@.type() == "object")') as o
                  where app.fold_text(o ->> 'external_id') = any (own) or (o ? 'subject_type' and app.fold_text(o ->> 'name') = any (own)));
end $$;

-- The subject that a JSON names by its member `subject_id`; null where it names none, or several.
create function app.subject_named(content jsonb) returns uuid
  language plpgsql immutable parallel safe as $$
begin
  return (select case when count(distinct lower(v #>> '{}')) = 1 then (min(lower(v #>> '{}')))::uuid end
            from jsonb_path_query(content, 'lax $.**.subject_id ? (@.type() == "string")') as v
           where v #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
end $$;

-- Why an erasure concerns a row: `id`, `mark`, or `review` where only a person can say it; null: not at all. `sure` are the marks that no other
-- subject has and no text contains by chance, `own` those that no other subject has, `marks` all.
create function app.match_erasure(owner uuid, content text, described jsonb, subject uuid, sure text[], own text[], marks text[]) returns text
  language plpgsql immutable parallel safe as $$
begin
  if owner is not null then return case when owner = subject then 'id' end; end if;
  if strpos(lower(content), subject::text) > 0 then return 'id'; end if;
  if app.mentions(content, sure, false) or app.describes(described, own) then return 'mark'; end if;
  if app.mentions(content, marks, true) then return 'review'; end if;
  return null;
end $$;

-- A text that mentions the subject becomes `erased`.
create function app.erase_text(content text, subject uuid, own text[], marks text[]) returns text
  language plpgsql immutable parallel safe as $$
begin
  return case when strpos(lower(content), subject::text) > 0 or app.fold_text(content) = any (own) or app.mentions(content, marks, true)
              then 'erased' else content end;
end $$;

-- The same of each text in a JSON; what does not mention the subject stays.
create function app.erase_texts(content jsonb, subject uuid, own text[], marks text[]) returns jsonb
  language plpgsql immutable parallel safe as $$
begin
  return case jsonb_typeof(content)
    when 'string' then to_jsonb(app.erase_text(content #>> '{}', subject, own, marks))
    when 'array' then (select coalesce(jsonb_agg(app.erase_texts(e.value, subject, own, marks) order by e.place), '[]')
                         from jsonb_array_elements(content) with ordinality as e (value, place))
    when 'object' then (select coalesce(jsonb_object_agg(app.erase_text(m.key, subject, own, marks), app.erase_texts(m.value, subject, own, marks)), '{}')
                          from jsonb_each(content) as m)
    else content end;
end $$;

-- Keeping --------------------------------------------------------------------------------------------------------------

-- Refuses to erase a row of another subject. The argument leads to the subject of the row, as for refuse_held_delete.
create function app.refuse_erasure_of_others() returns trigger
  language plpgsql as $$
declare
  parts constant text[] := string_to_array(tg_argv[0], '.');
  subject uuid;
begin
  if app.restoring() then return new; end if;
  if cardinality(parts) = 1 then
    execute format('select ($1).%I', tg_argv[0]) into subject using old;
  else
    execute format('select p.%I from app.%I p where p.tenant_id = ($1).tenant_id and p.%I = ($1).%I', parts[3], parts[1], parts[2], parts[2])
       into subject using old;
  end if;
  if subject <> app.erasing() then
    raise exception 'an erasure changes no row of another subject' using errcode = 'PB002';
  end if;
  return new;
end $$;

create trigger alert_erase_own before update on app.alert
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('subject_id');
create trigger alert_erase_held before update on app.alert
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('alert_id', 'subject_id');
create trigger alert_comment_erase_own before update on app.alert_comment
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('alert.alert_id.subject_id');
create trigger alert_comment_erase_held before update on app.alert_comment
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('alert_id', 'alert.alert_id.subject_id');
create trigger alert_occurrence_erase_own before update on app.alert_occurrence
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('alert.alert_id.subject_id');
create trigger alert_occurrence_erase_held before update on app.alert_occurrence
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('alert_id', 'alert.alert_id.subject_id');
create trigger alert_suppression_erase_own before update on app.alert_suppression
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('subject_id');
create trigger alert_suppression_erase_held before update on app.alert_suppression
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('subject_id');
create trigger document_erase_own before update on app.document
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('subject_id');
create trigger document_erase_held before update on app.document
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('document_id', 'subject_id');
create trigger evidence_item_erase_own before update on app.evidence_item
  for each row when (app.erasing() is not null and old.owner_kind = 'subject') execute function app.refuse_erasure_of_others('owner_id');
create trigger rating_erase_own before update on app.rating
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('subject_id');
create trigger rating_erase_held before update on app.rating
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('subject_id');

-- A released hold on a document of the subject is erased too; one in force never is.
create function app.erase_hold() returns trigger
  language plpgsql as $$
declare
  subject constant uuid := coalesce(
    (select s.subject_id from app.subject s where s.tenant_id = old.tenant_id and s.subject_id = old.object_id),
    (select d.subject_id from app.document d where d.tenant_id = old.tenant_id and d.document_id = old.object_id),
    (select i.subject_id from app.investigation i where i.tenant_id = old.tenant_id and i.investigation_id = old.object_id));
begin
  if app.restoring() then return new; end if;
  if old.state <> 'released' or subject <> app.erasing() then
    raise exception 'an erasure changes only released holds, and none on another subject' using errcode = 'PB002';
  end if;
  return new;
end $$;
drop trigger hold_keep on app.hold;
create trigger hold_keep before insert on app.hold for each row execute function app.keep_hold();
create trigger hold_change before update on app.hold
  for each row when (app.erasing() is null) execute function app.keep_hold();
drop trigger hold_erase on app.hold;
create trigger hold_erase before update on app.hold
  for each row when (app.erasing() is not null) execute function app.erase_only('reason', 'authority_reference', 'release_reason');
create trigger hold_erase_own before update on app.hold
  for each row when (app.erasing() is not null) execute function app.erase_hold();

-- Why the work was given to somebody, or taken from them.
alter table app.work_item add column assign_reason text constraint work_item_assign_reason_ck check (length(assign_reason) between 1 and 2000);

-- Answers given by hand may say why.
update app.wall_register set kind = 'erasable' where table_name = 'provider_answer';
drop trigger provider_answer_append on app.provider_answer;
create trigger provider_answer_append before delete on app.provider_answer for each statement execute function app.refuse_change();
create trigger provider_answer_erase before update on app.provider_answer for each row execute function app.erase_only('reason');
create trigger provider_answer_erase_own before update on app.provider_answer
  for each row when (app.erasing() is not null) execute function app.refuse_erasure_of_others('provider_call.call_id.subject_id');
grant update (reason) on app.provider_answer to app;

-- Deciding and certifying ----------------------------------------------------------------------------------------------

-- Rows that mention the subject by a name it shares, named by the person who requests: class and id of each.
alter table app.erasure add column also jsonb not null default '[]' constraint erasure_also_ck check (jsonb_typeof(also) = 'array');
alter table app.erasure_step add column left_for_review bigint not null default 0
  constraint erasure_step_review_ck check (left_for_review >= 0);
alter table app.erasure_step add column kept_by_hold bigint not null default 0 constraint erasure_step_kept_ck check (kept_by_hold >= 0);

create function app.keep_erasure_also() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and new.also <> old.also then
    raise exception 'what an erasure was requested for never changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger erasure_also before update on app.erasure for each row execute function app.keep_erasure_also();

-- Counts of rows with a restriction: a certificate without access says nothing about them.
create table app.erasure_annex (
  tenant_id      uuid not null,
  erasure_id     uuid not null,
  restriction_id uuid not null,
  -- By step.
  counts         jsonb not null constraint erasure_annex_counts_ck check (jsonb_typeof(counts) = 'object'),
  -- Signed when the erasure is done.
  content        jsonb,
  constraint erasure_annex_pkey primary key (tenant_id, erasure_id, restriction_id),
  constraint erasure_annex_erasure_fkey foreign key (tenant_id, erasure_id) references app.erasure (tenant_id, erasure_id),
  constraint erasure_annex_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.erasure_annex', 'tenant');
select app.restrict_rows('app.erasure_annex');
revoke delete on app.erasure_annex from app;

create function app.keep_erasure_annex() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'UPDATE' and (old.content is not null or (new.tenant_id, new.erasure_id, new.restriction_id)
                                                       is distinct from (old.tenant_id, old.erasure_id, old.restriction_id)) then
    raise exception 'a signed annex never changes' using errcode = 'PB002';
  end if;
  if not exists (select 1 from app.erasure_step s where s.tenant_id = new.tenant_id and s.erasure_id = new.erasure_id
                    and s.txid = pg_current_xact_id()::text::bigint) then
    raise exception 'an annex is written by a step of its erasure' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger erasure_annex_keep before insert or update on app.erasure_annex for each row execute function app.keep_erasure_annex();

-- Readiness compares the ledger with the erasures of all tenants: a ledger that is lost or empty names none of them.
update app.wall_register set kind = 'queue' where table_name = 'erasure';
alter policy wall on app.erasure
  using (tenant_id = (select app.tenant_id()) or (select current_user = 'worker'))
  with check (tenant_id = (select app.tenant_id()) or (select current_user = 'worker'));
grant select (tenant_id, state, ledger_hash) on app.erasure to worker;
