-- Keys that stored codes, hashes and signatures were made with. They were derived from the master key, so that no master key could
-- ever be retired; now each is a row of its own, encrypted under the master key, and a new master key only encrypts it again.
-- Rows of the system tenant serve all tenants, as signing keys do; a tenant has rows of its own for what is hashed for it alone.
create table app.integrity_key (
  tenant_id  uuid not null,
  purpose    text not null,
  -- The highest makes, all that are trusted verify.
  key_no     bigint not null constraint integrity_key_no_ck check (key_no >= 1),
  wrapped    text not null,
  -- Names the key that encrypts it: what that key is still needed for can be asked without opening anything.
  wrapped_by text not null,
  state      text not null default 'trusted' constraint integrity_key_state_ck check (state in ('trusted', 'distrusted')),
  created_at timestamptz not null default now(),
  constraint integrity_key_pkey primary key (tenant_id, purpose, key_no)
);
select app.wall('app.integrity_key', 'shared');
-- Encrypting again is the operator's; nobody removes a key that something may still have to be verified with.
revoke update, delete on app.integrity_key from app;
revoke delete on app.integrity_key from steward;

create function app.keep_integrity_key() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.purpose, new.key_no, new.created_at) is distinct from (old.tenant_id, old.purpose, old.key_no, old.created_at)
     or (old.state = 'distrusted' and new.state <> 'distrusted') then
    raise exception 'an integrity key is encrypted again or distrusted, and nothing else of it changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger integrity_key_keep before update on app.integrity_key
  for each row execute function app.keep_integrity_key();
