-- The protocol through which a change was proposed, and what the program of an assistant calls itself. Null: proposed before these
-- columns existed.
alter table app.change_request
  add column via text constraint change_request_via_ck check (via in ('http', 'mcp')),
  add column client text constraint change_request_client_ck check (length(client) between 1 and 200);
