-- A rating that a change request set names it: the actor is who approved last, and the reason is the words of who proposed.

alter table app.rating add column cr_id uuid;
alter table app.rating add constraint rating_request_ck check (cr_id is null or cause in ('override', 'override-ended')) not valid;

-- Stored ones: approving wrote the request and the rating in one transaction, the request first.
alter table app.rating no force row level security;
alter table app.change_request no force row level security;
alter table app.evaluation no force row level security;
alter table app.rating disable trigger user;
with done as materialized (
  select c.tenant_id, c.cr_id, c.decided_by, c.decided_at, coalesce(v.subject_id, (c.params ->> 'subject_id')::uuid) as subject_id,
         case c.operation when 'deleteRiskOverride' then 'override-ended' else 'override' end as cause
    from app.change_request c
    left join app.evaluation v on v.tenant_id = c.tenant_id and v.evaluation_id = (c.params ->> 'evaluation_id')::uuid
   where c.state = 'approved' and c.operation in ('createRiskOverride', 'overrideEvaluation', 'deleteRiskOverride'))
update app.rating r
   set cr_id = d.cr_id
  from done d
 where d.tenant_id = r.tenant_id and d.subject_id = r.subject_id and d.cause = r.cause and d.decided_by = r.actor
   and r.recorded_at >= d.decided_at and r.recorded_at < d.decided_at + interval '10 seconds';
alter table app.rating enable trigger user;
alter table app.evaluation force row level security;
alter table app.change_request force row level security;
alter table app.rating force row level security;
