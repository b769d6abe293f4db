-- What is in force changes by activations and by the clock, and by nothing else. A number per scope that every activation moves,
-- in its own transaction, lets a process answer from memory: while neither the tenant's number nor the shared one has moved, what
-- it resolved before still holds, until the next instant an activation begins or ends by itself.
create table app.activation_epoch (
  tenant_id uuid not null,
  epoch     bigint not null,
  constraint activation_epoch_pkey primary key (tenant_id)
);
select app.wall('app.activation_epoch', 'shared');
revoke delete on app.activation_epoch from app, steward;

-- By the clock, in microseconds: a counter would give the number of an activation that was undone to the next one, and what was
-- resolved inside that transaction would look fresh. (A sequence would tell one tenant how busy the others are.)
create function app.turn_epoch() returns trigger
  language plpgsql as $$
declare
  instant constant bigint := extract(epoch from clock_timestamp()) * 1000000;
begin
  if app.restoring() then return null; end if;
  insert into app.activation_epoch as e (tenant_id, epoch) values (new.tenant_id, instant)
    on conflict (tenant_id) do update set epoch = greatest(e.epoch + 1, instant);
  return null;
end $$;
create trigger activation_epoch_turn after insert or update on app.activation
  for each row execute function app.turn_epoch();

-- A number that went back, or was moved by hand, would make stale answers look fresh.
create function app.keep_epoch() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if pg_trigger_depth() < 2 or (tg_op = 'UPDATE' and new.epoch <= old.epoch) then
    raise exception 'only activations move the epoch' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger activation_epoch_keep before insert or update on app.activation_epoch
  for each row execute function app.keep_epoch();
