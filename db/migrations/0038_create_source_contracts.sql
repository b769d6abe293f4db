-- Source contracts are a kind of versioned definition. Beside them: payloads as they arrived, what the contract in force made of each,
-- payloads in quarantine, and statistics of what arrives. A payload that was quarantined cannot become evidence of a decision.
insert into app.definition_family (family, title) values ('contract', 'Source contracts');

-- Facts of contracts that a published version of a definition reads: who loses something when a contract changes.
create table app.definition_fact (
  tenant_id    uuid not null,
  dataset_id   uuid not null,
  version      bigint not null,
  contract_key text not null,
  fact         text not null constraint definition_fact_fact_ck check (length(fact) between 1 and 60),
  input        text not null constraint definition_fact_input_ck check (length(input) between 1 and 60),
  constraint definition_fact_pkey primary key (tenant_id, dataset_id, version, contract_key, fact, input),
  constraint definition_fact_version_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
select app.wall('app.definition_fact', 'shared');
create index definition_fact_contract_idx on app.definition_fact (tenant_id, contract_key, dataset_id);
revoke update, delete on app.definition_fact from app, steward;
create trigger definition_fact_append before update or delete on app.definition_fact
  for each statement execute function app.refuse_change();

-- A payload as it arrived. The row stays for as long as decisions may cite it; its bytes are in the next table.
create table app.source_payload (
  tenant_id      uuid not null,
  payload_id     uuid not null,
  contract_key   text not null constraint source_payload_contract_ck check (contract_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  -- Whose key encrypts the bytes and the facts: a subject, or the payload itself.
  owner_kind     text not null constraint source_payload_owner_ck check (owner_kind in ('subject', 'object')),
  owner_id       uuid not null,
  media_type     text not null constraint source_payload_media_type_ck check (length(media_type) between 1 and 200),
  byte_size      bigint not null constraint source_payload_size_ck check (byte_size >= 0),
  -- Keyed with a secret of the tenant: the hash of a short answer must not tell the answer.
  payload_hash   text not null constraint source_payload_hash_ck check (payload_hash ~ '^[0-9a-f]{64}$'),
  source_kind    text not null constraint source_payload_source_ck check (source_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  source_id      uuid not null,
  restriction_id uuid,
  received_at    timestamptz not null,
  created_at     timestamptz not null default now(),
  created_by     text not null,
  constraint source_payload_pkey primary key (tenant_id, payload_id),
  constraint source_payload_source_key unique (tenant_id, source_kind, source_id),
  constraint source_payload_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.source_payload', 'append');
create index source_payload_contract_idx on app.source_payload (tenant_id, contract_key, payload_id);

-- The bytes, encrypted under the owner's key. The retention policy removes them; nothing changes them.
create table app.source_payload_content (
  tenant_id   uuid not null,
  payload_id  uuid not null,
  content     bytea not null,
  received_at timestamptz not null,
  constraint source_payload_content_pkey primary key (tenant_id, payload_id),
  constraint source_payload_content_payload_fkey foreign key (tenant_id, payload_id)
    references app.source_payload (tenant_id, payload_id)
);
select app.wall('app.source_payload_content', 'tenant');
revoke update on app.source_payload_content from app;
create index source_payload_content_age_idx on app.source_payload_content (tenant_id, received_at);

-- What a version of the contract made of a payload. A later one cites the one it replaces.
create table app.payload_admission (
  tenant_id             uuid not null,
  admission_id          uuid not null,
  payload_id            uuid not null,
  contract_key          text not null,
  contract_origin       text not null constraint payload_admission_origin_ck check (contract_origin in ('own', 'shared')),
  contract_version      bigint not null constraint payload_admission_version_ck check (contract_version > 0),
  contract_hash         text not null constraint payload_admission_hash_ck check (contract_hash ~ '^[0-9a-f]{64}$'),
  result                text not null constraint payload_admission_result_ck
                          check (result in ('admitted', 'admitted_with_notes', 'quarantined')),
  admitted              boolean not null generated always as (result <> 'quarantined') stored,
  -- Some records were refused although the payload was admitted.
  incomplete            boolean not null,
  record_count          integer not null constraint payload_admission_records_ck check (record_count >= 0),
  -- Places and demands of the contract, never values.
  violations            jsonb not null constraint payload_admission_violations_ck check (jsonb_typeof(violations) = 'array'),
  more_violations       integer not null constraint payload_admission_more_ck check (more_violations >= 0),
  notes                 jsonb not null constraint payload_admission_notes_ck check (jsonb_typeof(notes) = 'array'),
  provenance            jsonb not null constraint payload_admission_provenance_ck check (jsonb_typeof(provenance) = 'object'),
  -- Versions of the lists that it was checked against.
  list_receipt          jsonb not null constraint payload_admission_lists_ck check (jsonb_typeof(list_receipt) = 'array'),
  -- Encrypted under the owner's key; null for a quarantined payload.
  facts                 bytea,
  replaces_admission_id uuid,
  created_at            timestamptz not null default now(),
  created_by            text not null,
  constraint payload_admission_pkey primary key (tenant_id, admission_id),
  constraint payload_admission_admitted_key unique (tenant_id, admission_id, admitted),
  constraint payload_admission_facts_ck check ((facts is null) = (result = 'quarantined')),
  -- A whole payload is admitted without any violation, and refused with at least one.
  constraint payload_admission_reason_ck check (
    case when result = 'quarantined' then jsonb_array_length(violations) > 0 and not incomplete
         else incomplete = (jsonb_array_length(violations) > 0) and (not incomplete or result = 'admitted_with_notes') end),
  constraint payload_admission_payload_fkey foreign key (tenant_id, payload_id) references app.source_payload (tenant_id, payload_id),
  constraint payload_admission_replaces_fkey foreign key (tenant_id, replaces_admission_id)
    references app.payload_admission (tenant_id, admission_id)
);
select app.wall('app.payload_admission', 'append');
-- One first admission; reprocessing cites the one before.
create unique index payload_admission_first_key on app.payload_admission (tenant_id, payload_id) where replaces_admission_id is null;
create unique index payload_admission_replaces_key on app.payload_admission (tenant_id, replaces_admission_id);
create index payload_admission_payload_idx on app.payload_admission (tenant_id, payload_id, admission_id);
create index payload_admission_contract_idx on app.payload_admission (tenant_id, contract_key, admission_id);

-- What was decided with the facts of an admission. The column repeats what the key guarantees: only an admitted payload is evidence.
create table app.admission_evidence (
  tenant_id     uuid not null,
  consumer_kind text not null constraint admission_evidence_kind_ck check (consumer_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  consumer_id   uuid not null,
  admission_id  uuid not null,
  admitted      boolean not null default true constraint admission_evidence_admitted_ck check (admitted),
  created_at    timestamptz not null default now(),
  created_by    text not null,
  constraint admission_evidence_pkey primary key (tenant_id, consumer_kind, consumer_id, admission_id),
  constraint admission_evidence_admission_fkey foreign key (tenant_id, admission_id, admitted)
    references app.payload_admission (tenant_id, admission_id, admitted)
);
select app.wall('app.admission_evidence', 'append');
create index admission_evidence_admission_idx on app.admission_evidence (tenant_id, admission_id);

-- A payload that waits for a person.
create table app.quarantine_item (
  tenant_id    uuid not null,
  payload_id   uuid not null,
  admission_id uuid not null,
  contract_key text not null,
  state        text not null default 'open' constraint quarantine_item_state_ck check (state in ('open', 'resolved')),
  resolution   text constraint quarantine_item_resolution_ck check (resolution in ('widened', 'provider_fault', 'discarded', 'reprocessed')),
  reason       text constraint quarantine_item_reason_ck check (length(reason) between 1 and 2000),
  resolved_at  timestamptz,
  resolved_by  text,
  revision     bigint not null default 1,
  created_at   timestamptz not null default now(),
  constraint quarantine_item_pkey primary key (tenant_id, payload_id),
  constraint quarantine_item_resolved_ck check (
    (state = 'resolved') = (resolution is not null) and (state = 'resolved') = (resolved_at is not null)
    and (state = 'resolved') = (resolved_by is not null)),
  constraint quarantine_item_payload_fkey foreign key (tenant_id, payload_id) references app.source_payload (tenant_id, payload_id),
  constraint quarantine_item_admission_fkey foreign key (tenant_id, admission_id)
    references app.payload_admission (tenant_id, admission_id)
);
select app.wall('app.quarantine_item', 'tenant');
revoke delete on app.quarantine_item from app;
create index quarantine_item_state_idx on app.quarantine_item (tenant_id, state, payload_id);
create index quarantine_item_contract_idx on app.quarantine_item (tenant_id, contract_key, payload_id);

-- Equal violations of one version are counted together.
create table app.violation_group (
  tenant_id        uuid not null,
  contract_key     text not null,
  contract_version bigint not null,
  pointer          text not null constraint violation_group_pointer_ck check (length(pointer) <= 600),
  keyword          text not null constraint violation_group_keyword_ck check (length(keyword) between 1 and 100),
  violations       bigint not null constraint violation_group_count_ck check (violations > 0),
  first_seen       timestamptz not null default now(),
  last_seen        timestamptz not null default now(),
  -- The first payloads that had it.
  samples          uuid[] not null constraint violation_group_samples_ck check (cardinality(samples) between 1 and 5),
  constraint violation_group_pkey primary key (tenant_id, contract_key, contract_version, pointer, keyword),
  constraint violation_group_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.violation_group', 'tenant');
revoke delete on app.violation_group from app;

-- Statistics of up to 1,000 payloads, or one day, of one version. The first that says enough is the baseline of the version.
create table app.drift_window (
  tenant_id        uuid not null,
  window_id        uuid not null,
  contract_key     text not null,
  contract_version bigint not null,
  state            text not null constraint drift_window_state_ck check (state in ('open', 'closed')),
  is_baseline      boolean not null default false,
  payload_count    integer not null constraint drift_window_payloads_ck check (payload_count > 0),
  record_count     integer not null constraint drift_window_records_ck check (record_count >= 0),
  -- Encrypted under a key of its own: frequent values of members that are not marked as personal.
  sketch           bytea not null,
  -- The newest admission that it includes.
  last_admission_id uuid not null,
  opened_at        timestamptz not null,
  closed_at        timestamptz,
  revision         bigint not null default 1,
  constraint drift_window_pkey primary key (tenant_id, window_id),
  constraint drift_window_closed_ck check ((state = 'closed') = (closed_at is not null)),
  constraint drift_window_baseline_ck check (state = 'closed' or not is_baseline),
  constraint drift_window_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.drift_window', 'tenant');
create index drift_window_contract_idx on app.drift_window (tenant_id, contract_key, contract_version, window_id);
create unique index drift_window_open_key on app.drift_window (tenant_id, contract_key, contract_version) where state = 'open';
create unique index drift_window_baseline_key on app.drift_window (tenant_id, contract_key, contract_version) where is_baseline;

-- A change of what arrives. Nothing is refused because of it; each is reported once for a version.
create table app.drift_finding (
  tenant_id        uuid not null,
  finding_id       uuid not null,
  contract_key     text not null,
  contract_version bigint not null,
  window_id        uuid not null,
  kind             text not null constraint drift_finding_kind_ck check (kind in ('new_member', 'vanished_member', 'kind_changed',
                     'null_share_up', 'null_share_down', 'new_value', 'number_above', 'number_below', 'text_longer')),
  pointer          text not null constraint drift_finding_pointer_ck check (length(pointer) <= 600),
  -- The new value or the new kind, where there may be several at one pointer.
  item             text not null default '' constraint drift_finding_item_ck check (length(item) <= 100),
  facts            jsonb not null constraint drift_finding_facts_ck check (jsonb_typeof(facts) = 'object'),
  first_payload_id uuid,
  created_at       timestamptz not null default now(),
  constraint drift_finding_pkey primary key (tenant_id, finding_id),
  constraint drift_finding_once_key unique (tenant_id, contract_key, contract_version, kind, pointer, item),
  constraint drift_finding_window_fkey foreign key (tenant_id, window_id) references app.drift_window (tenant_id, window_id)
);
select app.wall('app.drift_finding', 'append');
create index drift_finding_contract_idx on app.drift_finding (tenant_id, contract_key, finding_id);

-- The bytes of payloads are a class of record that the retention policy may name.
alter table app.retention_policy drop constraint retention_policy_classes_ck;
alter table app.retention_policy add constraint retention_policy_classes_ck
  check (not jsonb_path_exists(classes,
    '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "provider-payloads"
               || @.record_class == "audit")
             || (@.record_class == "audit" && @.keep_days != null))'));
