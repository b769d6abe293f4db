/** SQL of activations. The database assigns number, time and hash under the lock of the list. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { DatasetFamily } from '../datasets/queries.ts'

export interface ActivationRow {
  readonly activation_id: string
  readonly list_key: string
  readonly layer: 'base' | 'overlay'
  readonly seq: number
  readonly kind: 'activate' | 'rollback' | 'pin' | 'unpin' | 'overlay' | 'overlay-removed' | 'seed'
  readonly dataset_tenant_id: string | null
  readonly dataset_id: string | null
  readonly version: number | null
  readonly effective_from: string
  readonly expires_at: string | null
  readonly recorded_at: string
  readonly retroactive: boolean
  readonly reason: string
  readonly actor: string
  readonly cr_id: string | null
  readonly revoked_at: string | null
  readonly revoked_by: string | null
  readonly revoke_reason: string | null
  readonly prev_hash: string
  readonly hash: string
}

const columns = `activation_id, list_key, layer, seq, kind, dataset_tenant_id, dataset_id, version, effective_from, expires_at,
  recorded_at, retroactive, reason, actor, cr_id, revoked_at, revoked_by, revoke_reason, prev_hash, hash`

export interface NewActivation {
  readonly activation_id: string
  readonly family: DatasetFamily
  readonly list_key: string
  readonly layer: 'base' | 'overlay'
  readonly kind: ActivationRow['kind']
  readonly dataset_tenant_id: string | null
  readonly dataset_id: string | null
  readonly version: number | null
  /** NULL: when the row is inserted. */
  readonly effective_from: string | null
  readonly expires_at: string | null
  readonly reason: string
  readonly cr_id: string | null
}

/** Held until the transaction ends, so that later reads in it cannot become stale. */
export const lockActivations = (tx: Tx, family: DatasetFamily, list_key: string) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`activation:${tx.tenant_id}:${family}:${list_key}`])

export const insertActivation = (tx: Tx, activation: NewActivation) =>
  tx.find<ActivationRow>(
    `insert into app.activation (tenant_id, activation_id, family, list_key, layer, kind, dataset_tenant_id, dataset_id, version,
       effective_from, expires_at, reason, actor, cr_id, seq, recorded_at, retroactive, prev_hash, hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, now(), false, '', '') returning ${columns}`,
    [
      tx.tenant_id,
      activation.activation_id,
      activation.family,
      activation.list_key,
      activation.layer,
      activation.kind,
      activation.dataset_tenant_id,
      activation.dataset_id,
      activation.version,
      activation.effective_from,
      activation.expires_at,
      activation.reason,
      tx.actor,
      activation.cr_id,
    ],
  )

/** The request was made before `effective_from`, and the row was inserted after it. */
export const isOverdue = async (tx: Tx, { activation_id, retroactive, cr_id }: ActivationRow): Promise<boolean> =>
  retroactive &&
  cr_id !== null &&
  (await tx.find(
    `select 1 as one from app.activation a join app.change_request c on c.tenant_id = a.tenant_id and c.cr_id = a.cr_id
      where a.tenant_id = $1 and a.activation_id = $2 and c.created_at < a.effective_from`,
    [tx.tenant_id, activation_id],
  )) !== undefined

/** Newest first. The timeline of a shared list is read with the id of the system tenant. */
export const listActivations = (
  tx: Tx,
  of: { tenant_id: string; family: DatasetFamily; list_key: string },
  after: PagePosition,
  count: number,
) =>
  tx.query<ActivationRow>(
    `select ${columns} from app.activation where tenant_id = $1 and family = $2 and list_key = $3
        and ($4::bigint is null or seq < $4) order by seq desc limit $5`,
    [of.tenant_id, of.family, of.list_key, after?.[0] ?? null, count],
  )

export const findActivation = (tx: Tx, family: DatasetFamily, list_key: string, activation_id: string) =>
  tx.find<ActivationRow>(
    `select ${columns} from app.activation
      where tenant_id = $1 and family = $2 and list_key = $3 and activation_id = $4`,
    [tx.tenant_id, family, list_key, activation_id],
  )

/** Scheduled and not yet in force. */
export const listScheduledActivations = (tx: Tx, family: DatasetFamily, list_key: string) =>
  tx.query<ActivationRow>(
    `select ${columns} from app.activation where tenant_id = $1 and family = $2 and list_key = $3 and layer = 'base'
        and revoked_at is null and effective_from > clock_timestamp() order by effective_from, seq`,
    [tx.tenant_id, family, list_key],
  )

/** The activation of the tenant that is in force now. */
export const findActivationInForce = (tx: Tx, family: DatasetFamily, list_key: string, layer: 'base' | 'overlay') =>
  tx.find<ActivationRow>(
    `select ${columns} from app.activation where tenant_id = $1 and family = $2 and list_key = $3 and layer = $4
        and revoked_at is null and effective_from <= clock_timestamp() order by effective_from desc, seq desc limit 1`,
    [tx.tenant_id, family, list_key, layer],
  )

/**
 * The activation in force before the current one that has another version of the tenant's own. Pinned shared versions do not
 * count, since they are numbered by another owner.
 */
export const findPreviousActivation = (
  tx: Tx,
  family: DatasetFamily,
  list_key: string,
  { dataset_id, version }: ActivationRow,
) =>
  tx.find<ActivationRow>(
    `select ${columns} from app.activation where tenant_id = $1 and family = $2 and list_key = $3 and layer = 'base'
        and revoked_at is null and effective_from <= clock_timestamp() and version is not null
        and dataset_tenant_id = tenant_id and not (dataset_id = $4 and version = $5)
      order by effective_from desc, seq desc limit 1`,
    [tx.tenant_id, family, list_key, dataset_id, version],
  )

/** Whether a version of the tenant's own list was ever in force. A trigger checks the same for every rollback. */
export const wasInForce = async (
  tx: Tx,
  { family, list_key, dataset_id }: { family: DatasetFamily; list_key: string; dataset_id: string },
  version: number,
): Promise<boolean> =>
  (
    await tx.find<{ was: boolean }>(`select app.was_in_force($1, $2, $3, 'base', $4, $5) as was`, [
      tx.tenant_id,
      family,
      list_key,
      dataset_id,
      version,
    ])
  )?.was ?? false

/** The activation by which a version is in force now or scheduled. */
export const findInForceOrScheduled = (
  tx: Tx,
  { family, list_key, dataset_id }: { family: DatasetFamily; list_key: string; dataset_id: string },
  version: number,
) =>
  tx.find<{ effective_from: string; is_scheduled: boolean }>(
    `select a.effective_from, a.effective_from > clock_timestamp() as is_scheduled from app.activation a
      where a.tenant_id = $1 and a.family = $2 and a.list_key = $3 and a.layer = 'base' and a.dataset_id = $4 and a.version = $5
        and a.revoked_at is null and (a.effective_from > clock_timestamp() or a.activation_id = (
          select b.activation_id from app.activation b
           where b.tenant_id = $1 and b.family = $2 and b.list_key = $3 and b.layer = 'base'
             and b.revoked_at is null and b.effective_from <= clock_timestamp()
           order by b.effective_from desc, b.seq desc limit 1))
      order by a.effective_from limit 1`,
    [tx.tenant_id, family, list_key, dataset_id, version],
  )

export const updateActivationRevoked = (tx: Tx, activation_id: string, reason: string) =>
  tx.find<ActivationRow>(
    `update app.activation set revoked_at = now(), revoked_by = $3, revoke_reason = $4
      where tenant_id = $1 and activation_id = $2 and revoked_at is null returning ${columns}`,
    [tx.tenant_id, activation_id, tx.actor, reason],
  )

/** Whether this list has any activation. */
export const hasActivations = async (tx: Tx, family: DatasetFamily, list_key: string): Promise<boolean> =>
  (
    await tx.find<{ some: boolean }>(
      'select exists (select 1 from app.activation where tenant_id = $1 and family = $2 and list_key = $3) as some',
      [tx.tenant_id, family, list_key],
    )
  )?.some ?? false
