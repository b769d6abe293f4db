-- What a change request would change, member by member, as the dry run found it when it was proposed. The state before it is gone once
-- the request is executed, so it is stored with the request. Null: proposed before this column existed.
alter table app.change_request add column changes jsonb
  constraint change_request_changes_ck check (jsonb_typeof(changes) = 'array');
