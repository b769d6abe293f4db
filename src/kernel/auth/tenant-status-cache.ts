/**
 * Whether a tenant, its principals and its tokens are active, and with which roles. Each process caches the status of every
 * active tenant and refreshes it every two seconds, so that a suspension, a revocation or a removed role takes effect within
 * five seconds, without a query per request.
 */
import { type Cache, declareCache } from '../cache/caches.ts'
import type { Tx } from '../database/tx.ts'
import type { Limit } from '../token-bucket.ts'
import type { Bucket, TenantState, TenantStatusRow } from './queries.ts'
import type { ToolRule } from './tool-policy.ts'

export interface TenantStatus {
  readonly state: TenantState
  readonly denied: ReadonlySet<string>
  readonly limits: ReadonlyMap<Bucket, Limit>
  /** The current roles of principals of the built-in issuer whose roles changed within the life of a token. */
  readonly roles: ReadonlyMap<string, readonly string[]>
  readonly tool_rules: readonly ToolRule[]
}

const REFRESH_AFTER_MS = 2000
/** Beyond this age a request waits for the refresh; before, one refresh runs in the background. */
const MAX_STALE_MS = 4000

interface Entry {
  status: TenantStatus | undefined
  epoch: number
  loaded_ms: number
  loading: Promise<void> | undefined
}

export const tenantStatuses = declareCache<Entry>({
  name: 'tenant_statuses',
  summary: 'Status, limits and denied principals of one tenant.',
  bound: { max_entries: 10_000 },
})

export class TenantStatusCache {
  readonly #entries: Cache<Entry>
  readonly #load: (tenantId: string, knownEpoch: number) => Promise<TenantStatusRow | undefined>
  readonly #now: () => number

  constructor(
    entries: Cache<Entry>,
    load: (tenantId: string, knownEpoch: number) => Promise<TenantStatusRow | undefined>,
    now: () => number = () => performance.now(),
  ) {
    this.#entries = entries
    this.#load = load
    this.#now = now
  }

  /** Undefined: no such tenant. Returns no promise while the cached status is fresh enough. */
  get(tenantId: string): TenantStatus | undefined | Promise<TenantStatus | undefined> {
    const entry = this.#entry(tenantId)
    const age = this.#now() - entry.loaded_ms
    if (age < REFRESH_AFTER_MS) return entry.status
    const refresh = this.#refresh(tenantId, entry)
    if (age < MAX_STALE_MS) {
      refresh.catch(() => {})
      return entry.status
    }
    return refresh.then(() => entry.status)
  }

  invalidate(tenantId: string): void {
    this.#entries.delete(tenantId)
  }

  /**
   * This process makes the change itself: the first request after the commit reads it. Invalidated before the commit, another
   * request would cache the old status again.
   */
  invalidateOnCommit(tx: Pick<Tx, 'tenant_id' | 'onCommit'>): void {
    tx.onCommit(() => this.invalidate(tx.tenant_id))
  }

  #entry(tenantId: string): Entry {
    let entry = this.#entries.get(tenantId)
    if (!entry) {
      entry = { status: undefined, epoch: 0, loaded_ms: Number.NEGATIVE_INFINITY, loading: undefined }
      this.#entries.set(tenantId, entry)
    }
    return entry
  }

  #refresh(tenantId: string, entry: Entry): Promise<void> {
    entry.loading ??= this.#reload(tenantId, entry).finally(() => {
      entry.loading = undefined
    })
    return entry.loading
  }

  async #reload(tenantId: string, entry: Entry): Promise<void> {
    const started_ms = this.#now()
    const row = await this.#load(tenantId, entry.epoch)
    if (!row) {
      entry.status = undefined
      entry.epoch = 0
    } else if (row.details) {
      const limits = new Map(row.details.limits.map(({ bucket, ...limit }) => [bucket, limit]))
      const roles = new Map(row.details.roles)
      const { denied, tool_rules } = row.details
      entry.status = { state: row.state, denied: new Set(denied), limits, roles, tool_rules }
      entry.epoch = row.access_epoch
    } else if (entry.status) {
      entry.status = { ...entry.status, state: row.state }
    }
    // The age counts from before the query: a change made while it ran is not hidden for longer.
    entry.loaded_ms = started_ms
  }
}
