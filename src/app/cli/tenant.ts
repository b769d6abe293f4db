/** `tenant list|suspend|resume`: the operator's view of tenants. It never reads a tenant's own data. */
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { listTenants, type TenantSummary, updateTenantState } from '../queries.ts'
import type { Command } from './command.ts'
import { formatTable } from './format-table.ts'
import { OPERATOR, withOperator } from './operator.ts'
import { recordAction } from './operator-actions.ts'
import { requireTenant } from './require-tenant.ts'

const SCOPE = fullScope(SYSTEM_TENANT, OPERATOR)

const toListRow = ({ tenant_id, slug, name, state, demo, created_at }: TenantSummary) => ({
  tenant_id,
  slug,
  name,
  state,
  demo,
  created_at,
})

export const tenantList: Command = {
  options: { json: { type: 'boolean', about: 'print JSON' } },
  run: (invocation) =>
    withOperator(invocation, { name: 'tenant' }, async ({ guarded }) => {
      const all = await guarded.steward.read(SCOPE, listTenants)
      const rows = all.filter(({ tenant_id }) => tenant_id !== CANARY_TENANT).map(toListRow)
      invocation.terminal.out(invocation.args.flag('json') ? JSON.stringify(rows, null, 2) : formatTable(rows))
      return 0
    }),
}

const createStateCommand = (verb: 'suspend' | 'resume', state: 'active' | 'suspended', about: string): Command => ({
  about,
  positionals: ['SLUG'],
  run: (invocation) =>
    withOperator(invocation, { name: 'tenant' }, async (operator) => {
      const tenant = await requireTenant(operator, invocation.args.positionals[0] as string)
      const { tenant_id, slug } = tenant
      if (tenant.state === state) {
        invocation.terminal.out(`${slug} is already ${state}.`)
        return 0
      }
      const keys = await operator.audit()
      await operator.guarded.steward.write(fullScope(tenant_id, OPERATOR), async (tx) => {
        // Another operator may have done and recorded it just now.
        if ((await updateTenantState(tx, tenant_id, state)) === 0) return
        recordAction(tx, keys, {
          operation: `${verb}Tenant`,
          object_type: 'tenant',
          object_id: tenant_id,
          detail: { before: tenant.state, after: state },
        })
      })
      invocation.terminal.out(`${slug} is ${state}.`)
      return 0
    }),
})

export const tenantSuspend = createStateCommand(
  'suspend',
  'suspended',
  'Its tokens stop working in every process within five seconds; its data, jobs and schedules wait.',
)
export const tenantResume = createStateCommand('resume', 'active', 'Takes effect in every process within five seconds.')
