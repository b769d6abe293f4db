-- Nobody erases what they cannot see, a confirmed erasure is not stopped, and a restriction that nobody can see is given to somebody.
-- See docs/adr/0076-erase-only-what-somebody-sees.md.

-- The policy of sight, asked for somebody else.
create function app.may_see(person text, restriction uuid) returns boolean
  language plpgsql stable parallel safe as $$
begin
  return restriction is null or not app.is_in_force(restriction)
      or coalesce(restriction = any (app.granted_restrictions('principal:' || person)), false)
      or coalesce(restriction <> all (app.officer_exclusions('principal:' || person)), false);
end $$;

-- Erasures ------------------------------------------------------------------------------------------------------------

-- Rows about the subject that neither the person who requested the erasure nor the one who confirms it may see keep it, in the words of a hold.
-- Reads with full sight and returns nothing of what it reads. Tables are found in the catalogue, so that a new one counts too.
create function app.refuse_hidden_erasure() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  one record;
  is_hidden boolean := false;
begin
  if app.restoring() then return new; end if;
  -- Whoever stores something about the subject has its row locked: it is seen here, or refused afterwards.
  perform 1 from app.subject s where s.tenant_id = new.tenant_id and s.subject_id = new.subject_id for update;
  perform set_config('app.sight', 'all', true);
  for one in
    select c.relname as table_name, o.attname as owner_column
      from pg_class c
      join pg_attribute r on r.attrelid = c.oid and r.attname = 'restriction_id' and not r.attisdropped
      join pg_attribute o on o.attrelid = c.oid and o.attname in ('subject_id', 'owner_id') and o.atttypid = 'uuid'::regtype and not o.attisdropped
     where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  loop
    execute format('select exists (select 1 from app.%I t where t.tenant_id = $1 and t.%I = $2 and t.restriction_id is not null
                      and not (app.may_see($3, t.restriction_id) or app.may_see($4, t.restriction_id)))', one.table_name, one.owner_column)
       into is_hidden using new.tenant_id, new.subject_id, new.requested_by, new.confirmed_by;
    exit when is_hidden;
  end loop;
  perform set_config('app.sight', before, true);
  if is_hidden then
    raise exception 'a legal hold keeps the subject' using errcode = 'PB008';
  end if;
  return new;
end $$;
-- After erasure_keep, which takes the lock of holds.
create trigger erasure_refuse before update on app.erasure
  for each row when (new.state = 'executing' and old.state = 'requested' and new.origin = 'request')
  execute function app.refuse_hidden_erasure();
create index source_payload_restricted_idx on app.source_payload (tenant_id, owner_id) where restriction_id is not null;

-- Whether the erasure of this transaction leaves rows of a restriction alone that only mention the subject: nobody who decided can see them.
create function app.is_closed_to_erasure(restriction uuid) returns boolean
  language plpgsql stable as $$
declare
  erasure constant text := nullif(current_setting('app.erasing', true), '');
begin
  if restriction is null or erasure is null or not app.is_in_force(restriction) then return false; end if;
  return coalesce((select not (app.may_see(e.requested_by, restriction) or app.may_see(e.confirmed_by, restriction)) from app.erasure e
                    where e.tenant_id = app.tenant_id() and e.erasure_id = erasure::uuid and e.origin = 'request'), false);
end $$;

-- One person must not stop what two have decided.
create function app.refuse_cancelled_erasure() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.job_id = new.job_id and e.state = 'executing') then
    raise exception 'the job of a confirmed erasure cannot be cancelled' using errcode = 'PB010';
  end if;
  return new;
end $$;
create trigger job_erasure before update of cancel_requested_at on app.job
  for each row when (new.kind = 'subject-erasure' and old.cancel_requested_at is null and new.cancel_requested_at is not null)
  execute function app.refuse_cancelled_erasure();

-- Restrictions --------------------------------------------------------------------------------------------------------

-- Whether somebody has access that does not end and was not deactivated: by a grant, or as the designated MLRO.
create function app.is_reachable(tenant uuid, restriction uuid) returns boolean
  language plpgsql stable as $$
begin
  return exists (
    select 1 from app.restriction_person p
     where p.tenant_id = tenant and p.restriction_id = restriction and p.effect = 'grant' and p.until is null
       and not exists (select 1 from app.user_account u where u.tenant_id = tenant and u.user_id::text = substr(p.principal, 6) and u.state = 'inactive'))
    or exists (
    select 1 from app.user_account u
     where u.tenant_id = tenant and u.is_mlro and u.state <> 'inactive'
       and not exists (select 1 from app.restriction_person p where p.tenant_id = tenant and p.restriction_id = restriction
                          and p.principal = 'user:' || u.user_id and p.effect = 'exclude'));
end $$;

-- The operator gives access only where nobody has it any more, and to nobody who was excluded.
create function app.refuse_operator_access() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and (new.effect <> 'grant' or app.is_reachable(new.tenant_id, new.restriction_id)
       or exists (select 1 from app.restriction_person p where p.tenant_id = new.tenant_id and p.restriction_id = new.restriction_id
                     and p.principal = new.principal and p.effect = 'exclude')) then
    raise exception 'the operator gives access only to a restriction that nobody can see' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger restriction_access_operator before insert or update on app.restriction_access
  for each row when (new.granted_by like 'operator:%') execute function app.refuse_operator_access();

-- Names -----------------------------------------------------------------------------------------------------------------

-- As texts and names are compared: compatibility forms (full width, ligatures, presentation forms) as ordinary letters, in lower case, with one
-- space between words. What capitals, keyboards and careful writers treat differently is alike: accents, points and vowel signs of Hebrew and
-- Arabic, the Arabic lengthening sign, the sharp s, the dotless and dotted i, the final sigma, apostrophes, hyphens, invisible characters.
create or replace function app.fold_text(content text) returns text
  language plpgsql immutable parallel safe as $$
begin
  return regexp_replace(
    translate(
      normalize(
        regexp_replace(
          normalize(replace(lower(normalize(content, nfkc)), U&'\00df', 'ss'), nfkd),
          '[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]',
          '', 'g'), nfc),
      U&'\0131\03c2\2018\2019\02bc\0060\00b4\2010\2011\0660\0661\0662\0663\0664\0665\0666\0667\0668\0669\06f0\06f1\06f2\06f3\06f4\06f5\06f6\06f7\06f8\06f9',
      U&'i\03c3''''''''''--01234567890123456789'),
    '[\s_\u00a0\u2000-\u200a\u3000]+', ' ', 'g');
end $$;
