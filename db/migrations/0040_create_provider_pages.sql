-- Answers of providers in several pages: each page is an attempt of its own, and its bytes are kept until the last one has arrived.

alter table app.provider_attempt add column page_no bigint not null default 1
  constraint provider_attempt_page_ck check (page_no between 1 and 100);

-- The promise `once` holds for each page.
drop index app.provider_attempt_once_key;
create unique index provider_attempt_once_key on app.provider_attempt (tenant_id, call_id, page_no)
  where promise = 'once' and sent_at is not null and outcome is distinct from 'not_sent';

-- Pages of a call that has no answer yet. The answer is the document of all pages; the rows are removed together with storing it.
create table app.provider_page (
  tenant_id   uuid not null,
  call_id     uuid not null,
  page_no     bigint not null constraint provider_page_no_ck check (page_no between 1 and 100),
  attempt_no  bigint not null,
  token       uuid not null,
  -- Encrypted under the key of the subject, or of the call where there is none.
  content     bytea not null,
  received_at timestamptz not null default now(),
  constraint provider_page_pkey primary key (tenant_id, call_id, page_no),
  constraint provider_page_attempt_fkey foreign key (tenant_id, call_id, attempt_no, token)
    references app.provider_attempt (tenant_id, call_id, attempt_no, token)
);
select app.wall('app.provider_page', 'tenant');
revoke update on app.provider_page from app;
create index provider_page_age_idx on app.provider_page (tenant_id, received_at);

create function app.keep_provider_page() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  perform app.lock_provider_call(new.tenant_id, new.call_id);
  if not exists (select 1 from app.provider_attempt a where a.tenant_id = new.tenant_id and a.call_id = new.call_id
                    and a.attempt_no = new.attempt_no and a.page_no = new.page_no and a.sent_at is not null) then
    raise exception 'a page belongs to an attempt that was sent for it' using errcode = 'PB002';
  end if;
  if new.page_no > 1 and not exists (select 1 from app.provider_page p where p.tenant_id = new.tenant_id and p.call_id = new.call_id
                                        and p.page_no = new.page_no - 1) then
    raise exception 'pages are stored one after another' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger provider_page_keep before insert on app.provider_page
  for each row execute function app.keep_provider_page();

-- After provider_attempt_keep, which takes the lock of the call.
create function app.keep_provider_attempt_page() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'UPDATE' and new.page_no <> old.page_no then
    raise exception 'the identity of an attempt never changes' using errcode = 'PB002';
  end if;
  if (tg_op = 'INSERT' or (old.sent_at is null and new.sent_at is not null))
     and exists (select 1 from app.provider_page p where p.tenant_id = new.tenant_id and p.call_id = new.call_id
                    and p.page_no = new.page_no) then
    raise exception 'a page that was received is never sent for again' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger provider_attempt_keep_page before insert or update on app.provider_attempt
  for each row execute function app.keep_provider_attempt_page();
