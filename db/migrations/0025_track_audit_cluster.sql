-- Transaction numbers mean something within one PostgreSQL cluster only. After pg_dump and pg_restore, logical replication or any
-- other move they start elsewhere, so the position up to which a record is chained says in which cluster it was counted.
-- Null: not known, as for every position from before this migration; the chain writer then compares all events with all links once.
-- Safe on a large table: no row is rewritten, and the locks are taken for an instant.

-- Null where the server does not let this role ask. PL/pgSQL, because SQL would check the privilege before it is asked about.
create function app.cluster_id() returns text
  language plpgsql stable as $$
begin
  if has_function_privilege('pg_catalog.pg_control_system()', 'execute') then
    return (select system_identifier::text from pg_catalog.pg_control_system());
  end if;
  return null;
end $$;

alter table app.audit_head add column cluster_id text;

-- The worker finds tenants with unchained events by comparing positions, without a transaction for each tenant: it reads where a
-- chain ends, as a number and an id, and neither its hash nor what any event says.
update app.wall_register set kind = 'queue' where table_name = 'audit_head';
alter policy wall on app.audit_head
  using (tenant_id = (select app.tenant_id()) or (select current_user = 'worker'))
  with check (tenant_id = (select app.tenant_id()) or (select current_user = 'worker'));
grant select (tenant_id, seq, last_txid, last_event_id, cluster_id, sealed_at) on app.audit_head to worker;
grant select (event_id) on app.audit_event to worker;
