-- Who may approve is counted for every user that is created and for every proposal. Few people of a tenant hold one of these roles,
-- however many users it has.
create index user_account_approver_idx on app.user_account (tenant_id, user_id)
  where roles && '{tenant_admin,compliance_officer}'::text[];

-- As before, read by the index. A rule names one of these roles.
create or replace function app.can_approve_roles(p_tenant_id uuid, p_rules jsonb) returns boolean
  language sql stable
  return exists (
    select 1
      from jsonb_to_recordset(p_rules) as rule (action text, approvers bigint, role text)
      join app.user_account maker on maker.tenant_id = p_tenant_id and 'tenant_admin' = any (maker.roles)
       and maker.roles && '{tenant_admin,compliance_officer}'::text[]
     where rule.action = 'roles' and rule.approvers > 0
       and rule.approvers <= (select count(*) from app.user_account u
                               where u.tenant_id = p_tenant_id and rule.role = any (u.roles) and u.user_id <> maker.user_id
                                 and u.roles && '{tenant_admin,compliance_officer}'::text[]));
