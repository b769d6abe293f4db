-- Providers of facts outside the service: credentials to call them, what was called, and what came back. A manifest is a versioned
-- definition of its own family.

insert into app.definition_family (family, title) values ('provider', 'Providers');

-- Since when a job waits for something outside, without progress.
alter table app.job add column deferred_since timestamptz;

-- Credentials ---------------------------------------------------------------------------------------------------------

create table app.provider_credential (
  tenant_id     uuid not null,
  credential_id uuid not null,
  provider_key  text not null constraint provider_credential_provider_ck check (length(provider_key) between 1 and 100),
  label         text not null constraint provider_credential_label_ck check (length(label) between 1 and 100),
  environment   text not null constraint provider_credential_environment_ck check (environment in ('live', 'test')),
  state         text not null constraint provider_credential_state_ck check (state in ('enabled', 'disabled', 'destroyed')),
  revision      bigint not null default 1,
  created_at    timestamptz not null default now(),
  created_by    text not null,
  updated_at    timestamptz not null default now(),
  updated_by    text not null,
  constraint provider_credential_pkey primary key (tenant_id, credential_id),
  constraint provider_credential_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.provider_credential', 'tenant');
revoke delete on app.provider_credential from app;
create unique index provider_credential_label_key on app.provider_credential (tenant_id, provider_key, environment, label)
  where state <> 'destroyed';
-- Which credential a call uses is never ambiguous.
create unique index provider_credential_enabled_key on app.provider_credential (tenant_id, provider_key, environment)
  where state = 'enabled';
create index provider_credential_listing_idx on app.provider_credential (tenant_id, created_at, credential_id);

create table app.provider_credential_version (
  tenant_id     uuid not null,
  credential_id uuid not null,
  version       bigint not null constraint provider_credential_version_no_ck check (version >= 1),
  state         text not null default 'staged'
                constraint provider_credential_version_state_ck check (state in ('staged', 'active', 'retired', 'destroyed')),
  -- Names only. The values are one encrypted JSON object, under the key of the credential.
  members       text[] not null,
  secret        bytea,
  -- Under a key of the tenant: the same values in two places are recognised inside the tenant only.
  fingerprint   text not null constraint provider_credential_version_fingerprint_ck check (fingerprint ~ '^[0-9a-f]{8}$'),
  expires_at    timestamptz,
  activated_at  timestamptz,
  -- A retired version is used until then, where the provider rejects the active one.
  usable_until  timestamptz,
  destroyed_at  timestamptz,
  verified_at   timestamptz,
  rejected_at   timestamptz,
  last_used_at  timestamptz,
  created_at    timestamptz not null default now(),
  created_by    text not null,
  constraint provider_credential_version_pkey primary key (tenant_id, credential_id, version),
  constraint provider_credential_version_credential_fkey foreign key (tenant_id, credential_id)
    references app.provider_credential (tenant_id, credential_id),
  constraint provider_credential_version_secret_ck check ((state = 'destroyed') = (secret is null)),
  constraint provider_credential_version_active_ck check (state <> 'active' or activated_at is not null)
);
select app.wall('app.provider_credential_version', 'tenant');
revoke delete on app.provider_credential_version from app;
create unique index provider_credential_version_active_key on app.provider_credential_version (tenant_id, credential_id)
  where state = 'active';

create function app.keep_credential_version() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.credential_id, new.version, new.members, new.fingerprint, new.expires_at, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.credential_id, old.version, old.members, old.fingerprint, old.expires_at, old.created_at, old.created_by) then
    raise exception 'a version of a credential is replaced by a new version, never changed' using errcode = 'PB002';
  end if;
  if new.secret is not null and new.secret is distinct from old.secret then
    raise exception 'the secret of a credential is destroyed, never changed' using errcode = 'PB002';
  end if;
  if new.state <> old.state
     and (old.state, new.state) not in (('staged', 'active'), ('staged', 'destroyed'), ('active', 'retired'),
                                        ('active', 'destroyed'), ('retired', 'destroyed')) then
    raise exception 'a version of a credential goes from staged to active, retired and destroyed, never back' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger provider_credential_version_keep before update on app.provider_credential_version
  for each row execute function app.keep_credential_version();

-- Every time a secret was opened: by whom, and what for. Stays when the credential is destroyed.
create table app.credential_access (
  tenant_id     uuid not null,
  access_id     uuid not null,
  credential_id uuid not null,
  version       bigint not null,
  purpose       text not null constraint credential_access_purpose_ck check (purpose in ('call', 'token', 'verify')),
  call_id       uuid,
  accessed_at   timestamptz not null default now(),
  accessed_by   text not null,
  constraint credential_access_pkey primary key (tenant_id, access_id),
  constraint credential_access_version_fkey foreign key (tenant_id, credential_id, version)
    references app.provider_credential_version (tenant_id, credential_id, version),
  constraint credential_access_call_ck check (purpose <> 'call' or call_id is not null)
);
select app.wall('app.credential_access', 'append');
create index credential_access_listing_idx on app.credential_access (tenant_id, credential_id, accessed_at, access_id);

-- One access token per version of a credential. Whoever holds the lease fetches the next one; a process that lost it stores nothing.
create table app.credential_token (
  tenant_id     uuid not null,
  credential_id uuid not null,
  version       bigint not null,
  token_no      bigint not null default 0,
  token         bytea,
  expires_at    timestamptz,
  -- Earlier than it expires, and different in each process, so that calls seldom wait for a new one.
  refresh_at    timestamptz,
  lease_id      uuid,
  lease_until   timestamptz,
  constraint credential_token_pkey primary key (tenant_id, credential_id, version),
  constraint credential_token_version_fkey foreign key (tenant_id, credential_id, version)
    references app.provider_credential_version (tenant_id, credential_id, version),
  constraint credential_token_ck check ((token is null) = (expires_at is null) and (token is null) = (refresh_at is null)),
  constraint credential_token_lease_ck check ((lease_id is null) = (lease_until is null))
);
select app.wall('app.credential_token', 'tenant');

-- How the tenant uses a provider; without a row, live.
create table app.provider_setting (
  tenant_id    uuid not null,
  provider_key text not null,
  mode         text not null constraint provider_setting_mode_ck check (mode in ('live', 'recorded', 'fixtures')),
  environment  text not null constraint provider_setting_environment_ck check (environment in ('live', 'test')),
  reason       text not null,
  revision     bigint not null default 1,
  updated_at   timestamptz not null default now(),
  updated_by   text not null,
  constraint provider_setting_pkey primary key (tenant_id, provider_key),
  constraint provider_setting_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.provider_setting', 'tenant');

-- The call ledger ------------------------------------------------------------------------------------------------------
-- A call is what was asked for; an attempt is one request to the provider; an answer is what came back. Promises of a call:
-- free: may be repeated; keyed: repeated under the same idempotency key; once: sent at most once, and a person settles an
-- unknown outcome.

create table app.provider_call (
  tenant_id        uuid not null,
  call_id          uuid not null,
  -- What asked for it, so that a job that runs again finds its call.
  call_key         text not null,
  provider_key     text not null,
  provider_origin  text not null constraint provider_call_origin_ck check (provider_origin in ('own', 'shared')),
  provider_version bigint not null,
  capability       text not null,
  contract_key     text,
  promise          text not null constraint provider_call_promise_ck check (promise in ('free', 'keyed', 'once')),
  mode             text not null constraint provider_call_mode_ck check (mode in ('live', 'recorded', 'fixtures')),
  environment      text not null constraint provider_call_environment_ck check (environment in ('live', 'test')),
  subject_id       uuid,
  restriction_id   uuid,
  -- Input and rendered request, encrypted under the key of the subject, or of the call where there is none. Placeholders stand
  -- for credentials.
  input            bytea not null,
  request          bytea,
  -- Keyed: finds recorded answers to the same input.
  input_hash       text not null constraint provider_call_input_hash_ck check (input_hash ~ '^[0-9a-f]{64}$'),
  idempotency_key  uuid not null,
  job_id           uuid,
  -- The call with an unknown outcome that a person decided to repeat.
  repeats_call_id  uuid,
  created_at       timestamptz not null default now(),
  created_by       text not null,
  constraint provider_call_pkey primary key (tenant_id, call_id),
  constraint provider_call_key_key unique (tenant_id, call_key),
  constraint provider_call_promise_key unique (tenant_id, call_id, promise),
  constraint provider_call_repeats_key unique (tenant_id, repeats_call_id),
  constraint provider_call_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint provider_call_repeats_fkey foreign key (tenant_id, repeats_call_id) references app.provider_call (tenant_id, call_id)
);
select app.wall('app.provider_call', 'append');
create index provider_call_listing_idx on app.provider_call (tenant_id, created_at, call_id);
create index provider_call_provider_idx on app.provider_call (tenant_id, provider_key, created_at, call_id);
create index provider_call_subject_idx on app.provider_call (tenant_id, subject_id, created_at, call_id) where subject_id is not null;
create index provider_call_input_idx on app.provider_call (tenant_id, provider_key, input_hash, created_at);

create table app.provider_attempt (
  tenant_id          uuid not null,
  call_id            uuid not null,
  attempt_no         bigint not null constraint provider_attempt_no_ck check (attempt_no between 1 and 1000),
  -- Made for this attempt: an answer names it, whoever holds the job by then.
  token              uuid not null,
  promise            text not null,
  provider_key       text not null,
  -- Committed before the first byte is sent. An attempt without it was provably never sent.
  sent_at            timestamptz,
  -- After it, the request has ended in every process, however it ended.
  deadline_at        timestamptz,
  credential_id      uuid,
  credential_version bigint,
  cost_minor         bigint constraint provider_attempt_cost_ck check (cost_minor >= 0),
  currency           text constraint provider_attempt_currency_ck check (currency ~ '^[A-Z]{3}$'),
  outcome            text constraint provider_attempt_outcome_ck check (outcome in ('answered', 'failed', 'refused', 'not_sent', 'unknown')),
  -- One of a fixed set of words, never a text of the provider.
  fault              text,
  http_status        bigint,
  duration_ms        bigint,
  -- No further attempt follows.
  is_final           boolean not null default false,
  intended_at        timestamptz not null default now(),
  ended_at           timestamptz,
  constraint provider_attempt_pkey primary key (tenant_id, call_id, attempt_no),
  constraint provider_attempt_token_key unique (tenant_id, call_id, attempt_no, token),
  constraint provider_attempt_call_fkey foreign key (tenant_id, call_id, promise)
    references app.provider_call (tenant_id, call_id, promise),
  constraint provider_attempt_credential_fkey foreign key (tenant_id, credential_id, credential_version)
    references app.provider_credential_version (tenant_id, credential_id, version),
  constraint provider_attempt_sent_ck check ((sent_at is null) = (deadline_at is null)),
  constraint provider_attempt_cost_currency_ck check ((cost_minor is null) = (currency is null)),
  constraint provider_attempt_ended_ck check ((outcome is null) = (ended_at is null))
);
select app.wall('app.provider_attempt', 'tenant');
revoke delete on app.provider_attempt from app;
-- The promise `once`, whatever the program does. `not_sent` is recorded only where provably no byte was sent.
create unique index provider_attempt_once_key on app.provider_attempt (tenant_id, call_id)
  where promise = 'once' and sent_at is not null and outcome is distinct from 'not_sent';
create index provider_attempt_open_idx on app.provider_attempt (tenant_id, provider_key, deadline_at)
  where sent_at is not null and outcome is null;
create index provider_attempt_sent_idx on app.provider_attempt (tenant_id, provider_key, sent_at) where sent_at is not null;

create table app.provider_answer (
  tenant_id   uuid not null,
  call_id     uuid not null,
  attempt_no  bigint not null,
  token       uuid not null,
  source      text not null
              constraint provider_answer_source_ck check (source in ('provider', 'builtin', 'recorded', 'fixture', 'person')),
  result      text not null constraint provider_answer_result_ck check (result in ('found', 'not_found')),
  http_status bigint,
  headers     jsonb not null default '{}',
  payload_id  uuid not null,
  -- The first answer is the result of the call; a later one was paid for and is kept.
  is_result   boolean not null,
  answered_at timestamptz not null default now(),
  answered_by text not null,
  reason      text,
  constraint provider_answer_pkey primary key (tenant_id, call_id, attempt_no),
  constraint provider_answer_attempt_fkey foreign key (tenant_id, call_id, attempt_no, token)
    references app.provider_attempt (tenant_id, call_id, attempt_no, token),
  constraint provider_answer_payload_fkey foreign key (tenant_id, payload_id) references app.source_payload (tenant_id, payload_id),
  constraint provider_answer_person_ck check (source <> 'person' or (reason is not null and answered_by like 'user:%'))
);
select app.wall('app.provider_answer', 'append');
create unique index provider_answer_result_key on app.provider_answer (tenant_id, call_id) where is_result;
create index provider_answer_payload_idx on app.provider_answer (tenant_id, payload_id);

-- Sends and answers of one call happen one after another, so that each sees the other.
create function app.lock_provider_call(tenant uuid, call uuid) returns void
  language sql
  begin atomic
    select pg_advisory_xact_lock(hashtextextended('provider_call:' || tenant || ':' || call, 0));
  end;

create function app.keep_provider_attempt() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.sent_at is not null or new.outcome is not null then
      raise exception 'an attempt is intended before it is sent' using errcode = 'PB002';
    end if;
    perform app.lock_provider_call(new.tenant_id, new.call_id);
  else
    if (new.tenant_id, new.call_id, new.attempt_no, new.token, new.promise, new.provider_key, new.intended_at)
       is distinct from
       (old.tenant_id, old.call_id, old.attempt_no, old.token, old.promise, old.provider_key, old.intended_at) then
      raise exception 'the identity of an attempt never changes' using errcode = 'PB002';
    end if;
    if old.sent_at is not null and (new.sent_at, new.deadline_at, new.credential_id, new.credential_version, new.cost_minor, new.currency)
       is distinct from (old.sent_at, old.deadline_at, old.credential_id, old.credential_version, old.cost_minor, old.currency) then
      raise exception 'what was sent stays recorded' using errcode = 'PB002';
    end if;
    -- The answer of a request that was given up may still arrive.
    if old.outcome is not null and new.outcome is distinct from old.outcome and not (old.outcome = 'unknown' and new.outcome = 'answered') then
      raise exception 'the outcome of an attempt stays recorded' using errcode = 'PB002';
    end if;
    if old.sent_at is null and new.sent_at is not null then
      if old.outcome is not null then
        raise exception 'an attempt that ended is not sent' using errcode = 'PB002';
      end if;
      perform app.lock_provider_call(new.tenant_id, new.call_id);
    end if;
  end if;
  if (tg_op = 'INSERT' or (old.sent_at is null and new.sent_at is not null))
     and exists (select 1 from app.provider_answer a where a.tenant_id = new.tenant_id and a.call_id = new.call_id) then
    raise exception 'a call that has an answer is never sent again' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger provider_attempt_keep before insert or update on app.provider_attempt
  for each row execute function app.keep_provider_attempt();

create function app.number_provider_answer() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  perform app.lock_provider_call(new.tenant_id, new.call_id);
  new.is_result := not exists (select 1 from app.provider_answer a where a.tenant_id = new.tenant_id and a.call_id = new.call_id);
  return new;
end $$;
create trigger provider_answer_number before insert on app.provider_answer
  for each row execute function app.number_provider_answer();

-- What all processes share about a provider of a tenant: rate, breaker and budget. Changed together with the attempt that is sent.
create table app.provider_state (
  tenant_id       uuid not null,
  provider_key    text not null,
  -- Token bucket.
  rate_tokens     double precision,
  rate_at         timestamptz,
  -- Circuit breaker: failures since, open until, and the attempt that tries whether the provider is back.
  failures        bigint not null default 0 constraint provider_state_failures_ck check (failures >= 0),
  failing_since   timestamptz,
  open_until      timestamptz,
  probe_token     uuid,
  probe_until     timestamptz,
  -- Budget, in UTC.
  day             date,
  calls_of_day    bigint not null default 0,
  month           date,
  spend_of_month_minor bigint not null default 0,
  last_fault      text,
  last_fault_at   timestamptz,
  last_answer_at  timestamptz,
  constraint provider_state_pkey primary key (tenant_id, provider_key),
  constraint provider_state_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint provider_state_probe_ck check ((probe_token is null) = (probe_until is null))
);
select app.wall('app.provider_state', 'tenant');
