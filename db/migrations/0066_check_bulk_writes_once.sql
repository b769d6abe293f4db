-- Checks of rows that are written in bulk, at a lower cost; what they refuse stays the same. See docs/adr/0088-check-bulk-writes-once.md.

-- A counted repetition in a regular expression takes 14 µs for each hash, a length and a search for any other character 1 µs. Not validated:
-- the rows that exist were checked by the constraint that is replaced.
do $$
declare
  old record;
begin
  for old in
    select conrelid::regclass as relation, conname, substring(pg_get_constraintdef(oid) from '\(\((\w+) ~') as column_name
      from pg_constraint
     where contype = 'c' and conrelid in ('app.alert_occurrence'::regclass, 'app.audit_link'::regclass, 'app.batch_item'::regclass,
                                          'app.evaluation'::regclass, 'app.payload_admission'::regclass, 'app.provider_call'::regclass,
                                          'app.resolution_receipt'::regclass, 'app.source_payload'::regclass)
       and pg_get_constraintdef(oid) like '%~ ''^[0-9a-f]{64}$''::text))%'
     order by 1, 2
  loop
    execute format('alter table %s drop constraint %I', old.relation, old.conname);
    execute format('alter table %s add constraint %I check (length(%I) = 64 and %I !~ ''[^0-9a-f]'') not valid',
                   old.relation, old.conname, old.column_name, old.column_name);
  end loop;
end
$$;

-- The ratings of one statement are compared with erasures together: for a batch of a thousand, one query instead of a thousand.
create function app.refuse_erased_ratings() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  if exists (select 1 from fresh f join app.subject s using (tenant_id, subject_id) where s.erased_at is not null)
     or exists (select 1 from fresh f join app.erasure e using (tenant_id, subject_id) where e.state = 'executing') then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return null;
end
$$;
drop trigger rating_refuse on app.rating;
create trigger rating_refuse after insert on app.rating
  referencing new table as fresh for each statement execute function app.refuse_erased_ratings();

-- Owner keys of new objects are inserted together with COMMIT, wrapped by the tenant key that the process has cached. If it is not the
-- active one any more, the transaction is repeated.
create function app.require_active_key(tenant uuid, number bigint) returns bigint
  language plpgsql stable as $$
begin
  if not exists (select 1 from app.tenant_key k where k.tenant_id = tenant and k.key_no = number and k.state = 'active') then
    raise exception 'tenant key % is not active any more', number using errcode = '40001';
  end if;
  return number;
end
$$;
