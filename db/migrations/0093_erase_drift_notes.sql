-- What somebody noted about a drift finding may name a customer. See docs/adr/0067-hold-and-erase.md.
update app.wall_register set kind = 'erasable' where table_name = 'drift_acknowledgement';
drop trigger drift_acknowledgement_append on app.drift_acknowledgement;
create trigger drift_acknowledgement_append before delete on app.drift_acknowledgement
  for each statement execute function app.refuse_change();
create trigger drift_acknowledgement_erase before update on app.drift_acknowledgement
  for each row execute function app.erase_only('note');
grant update (note) on app.drift_acknowledgement to app;
