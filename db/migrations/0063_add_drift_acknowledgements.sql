-- Somebody looked at a drift finding and said what follows from it. The finding itself never changes.
-- See docs/adr/0085-finish-sources-and-tools.md.
create table app.drift_acknowledgement (
  tenant_id       uuid not null,
  finding_id      uuid not null,
  note            text constraint drift_acknowledgement_note_ck check (length(note) between 1 and 2000),
  acknowledged_at timestamptz not null default now(),
  acknowledged_by text not null default app.actor(),
  constraint drift_acknowledgement_pkey primary key (tenant_id, finding_id),
  constraint drift_acknowledgement_finding_fkey foreign key (tenant_id, finding_id) references app.drift_finding (tenant_id, finding_id)
);
select app.wall('app.drift_acknowledgement', 'append');
