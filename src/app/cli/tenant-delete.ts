/** `tenant delete`: removes a suspended tenant with everything it has. */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type ErasureLedger, isTenantDeletion } from '#kernel/erasure/ledger.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { type Connections, openErasureLedger } from '../environment.ts'
import { modules } from '../modules.ts'
import { findSuspensionAge, findTenantBySlug, type TenantSummary } from '../queries.ts'
import { countTenantRows, type DeletionStep, deleteTenant } from '../tenant-deletion/delete-tenant.ts'
import { findTenantDeletion, type TenantDeletionRow } from '../tenant-deletion/queries.ts'
import { type Command, type Terminal, UsageError } from './command.ts'
import { formatTable } from './format-table.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { requireTenant } from './require-tenant.ts'

/** Requests that were admitted before the suspension have ended by then. */
const SUSPENDED_FOR_S = 60

export const tenantDelete: Command = {
  about: `
Suspend the tenant at least a minute before, and export its audit record if you have to keep it: nothing of the tenant is
left afterwards but one row with its id, when and by whom it was deleted, the end of its audit chain and how many rows
there were. It is refused while a legal hold is in force. The keys of the tenant go first, then every table; other tenants
work on meanwhile. Broken off, it leaves a tenant that nobody can use: give the command again, with the id, and it goes on.
Backups are not changed; the erasure ledger records that the tenant is gone: see "Tenants" in docs/operations.md. On an external server it needs MIGRATOR_DATABASE_URL.

Example:
  npx probity tenant suspend acme
  npx probity tenant delete acme --dry-run
  npx probity tenant delete acme --confirm 'Acme Bank'`,
  options: {
    confirm: { type: 'string', value: 'NAME', about: 'the name of the tenant, as "tenant list" shows it' },
    'dry-run': { type: 'boolean', about: 'show what would be deleted, and why it would be refused' },
  },
  positionals: ['SLUG'],
  run: (invocation) => {
    const { args, terminal } = invocation
    const [slug] = args.positionals as [string]
    const [confirm, is_dry_run] = [args.text('confirm'), args.flag('dry-run')]
    if (!is_dry_run && confirm === undefined) throw new UsageError('--confirm is missing: the name of the tenant.')
    const ledger = openErasureLedger(invocation.config(), invocation.project)
    return withOperator(invocation, { name: 'tenant delete' }, (operator) =>
      runDeletion({
        ...{ operator, terminal, slug, ...(is_dry_run ? { is_dry_run } : { confirm }) },
        ...(ledger && { onDecided: async (tenant_id) => recordDeletion(ledger, await operator.audit(), tenant_id) }),
      }),
    )
  },
}

/** Of the operator's context, what a deletion uses. */
interface DeletionOperator {
  readonly guarded: Pick<OperatorContext['guarded'], 'app' | 'steward'>
  readonly connections: Pick<Connections, 'migrator'>
}

export interface DeletionRequest {
  readonly operator: DeletionOperator
  readonly terminal: Terminal
  readonly slug: string
  readonly confirm?: string | undefined
  readonly is_dry_run?: true
  /** Before anything is deleted. */
  readonly onDecided?: (tenant_id: string) => Promise<unknown>
  readonly onStep?: (step: DeletionStep) => unknown
}

/** A state that is restored later has the tenant again: the ledger says that it was deleted. Once, however often the command is given. */
export async function recordDeletion(ledger: ErasureLedger, keys: AuditKeys, tenant_id: string): Promise<void> {
  if ((await ledger.read()).some((entry) => entry.tenant_id === tenant_id && isTenantDeletion(entry))) return
  const confirmed_at = new Date().toISOString()
  await ledger.append(
    {
      erasure_id: uuidv7(),
      tenant_id,
      subject_id: tenant_id,
      requested_by: OPERATOR,
      confirmed_by: OPERATOR,
      confirmed_at,
    },
    { key_id: keys.key_id, sign: (hash) => keys.signStatement('erasure-ledger', hash) },
  )
}

export async function runDeletion(request: DeletionRequest): Promise<number> {
  const { operator, terminal, slug } = request
  const { tenant, deletion } = await findTarget(operator, slug)
  const { tenant_id } = tenant ?? { tenant_id: deletion?.deleted_tenant_id as string }
  const { steward } = operator.guarded
  const options = { migrator: requireMigrator(operator.connections), steward, tenant_id, actor: OPERATOR }
  const obstacles = tenant && tenant.state !== 'deleting' ? await listObstacles(operator, tenant) : []
  if (request.is_dry_run) {
    const counts = await countTenantRows(options)
    terminal.out(formatTable(Object.entries(counts).map(([table, rows]) => ({ table, rows }))))
    for (const obstacle of obstacles) terminal.note(obstacle)
    return 0
  }
  if (tenant && request.confirm !== tenant.name) {
    throw new Error(`--confirm must be the name of ${tenant.slug}, "${tenant.name}".`)
  }
  if (obstacles.length > 0) throw new Error(obstacles.join('\n'))
  if (tenant) terminal.note(`Deleting ${tenant.slug}. If this is broken off: npx probity tenant delete ${tenant_id} …`)
  await request.onDecided?.(tenant_id)
  await deleteTenant({
    ...options,
    onStep: async (step) => {
      if (step.step === 'rows') terminal.note(`${step.table}: ${step.rows ?? 'all'} rows`)
      await request.onStep?.(step)
    },
  })
  const done = await steward.read(fullScope(SYSTEM_TENANT, OPERATOR), (tx) => findTenantDeletion(tx, tenant_id))
  terminal.out(`Deleted tenant ${tenant_id} at ${done?.finished_at}. Its audit chain ended with ${done?.audit_hash}.`)
  return 0
}

/** The tenant, or the record of a deletion that has removed it already. */
async function findTarget(
  { guarded }: DeletionOperator,
  slug: string,
): Promise<{ tenant?: TenantSummary; deletion?: TenantDeletionRow }> {
  const [tenant, deletion] = await guarded.steward.read(fullScope(SYSTEM_TENANT, OPERATOR), async (tx) => [
    await findTenantBySlug(tx, slug),
    await findTenantDeletion(tx, slug),
  ])
  if (tenant?.state === 'deleting') return { tenant }
  if (!tenant && deletion) return { deletion }
  return { tenant: await requireTenant({ guarded }, slug) }
}

async function listObstacles({ guarded }: DeletionOperator, { tenant_id, slug }: TenantSummary): Promise<string[]> {
  if (tenant_id === CANARY_TENANT) return ['The isolation canary is needed.']
  const age_s = await guarded.steward.read(fullScope(tenant_id, OPERATOR), (tx) => findSuspensionAge(tx, tenant_id))
  const obstacles: string[] = []
  if (age_s === null) obstacles.push(`${slug} is not suspended: run "npx probity tenant suspend ${slug}" first.`)
  else if (age_s < SUSPENDED_FOR_S) {
    obstacles.push(
      `${slug} was suspended ${age_s} s ago: wait until it is ${SUSPENDED_FOR_S} s, so that all requests have ended.`,
    )
  }
  const found = await guarded.app.read(fullScope(tenant_id, OPERATOR), (tx) =>
    Promise.all(modules.map(({ listDeletionObstacles }) => listDeletionObstacles?.(tx) ?? [])),
  )
  return [...obstacles, ...found.flat()]
}

function requireMigrator({ migrator }: Pick<Connections, 'migrator'>) {
  if (migrator) return migrator
  throw new Error(
    'MIGRATOR_DATABASE_URL is missing: only the owner of the tables removes rows that are never removed otherwise.',
  )
}
