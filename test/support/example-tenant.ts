/**
 * A tenant that can make one of everything, for tests that call every operation. `user()` is made once and shared;
 * `newUser()` is a fresh one for calls that use it up. Things are made through the API wherever it can make them.
 */
import { insertTenantDeletion } from '#app/tenant-deletion/queries.ts'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { insertBreakGlassReview } from '#kernel/request/queries.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { UsageCounter } from '#modules/access/index.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import type { CallOptions, TestApp } from './test-app.ts'

export type Person = `user:${string}`

/** What an example tenant needs of the program it lives in. */
export type ExampleApp = Pick<
  TestApp,
  'runtime' | 'kernel' | 'seedContext' | 'call' | 'token' | 'makeTenant' | 'setApprovalRules'
>

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

export class ExampleTenant {
  readonly w: ExampleApp
  readonly tenant_id: string
  /** Calls the operations; whoever proposes changes is somebody else. */
  readonly caller: Person = `user:${uuidv7()}`
  readonly author: Person = `user:${uuidv7()}`
  readonly #tokens = new Map<string, Promise<string>>()

  constructor(w: ExampleApp, tenant_id: string) {
    this.w = w
    this.tenant_id = tenant_id
  }

  static async create(w: ExampleApp): Promise<ExampleTenant> {
    const tenant = new ExampleTenant(w, await w.makeTenant())
    // A test calls faster than any client should.
    await tenant.write((tx) =>
      tx.run(
        `insert into app.tenant_limit (tenant_id, bucket, per_second, burst)
         select $1, bucket, 1000000, 10000000 from unnest(array['principal', 'tenant', 'in_flight', 'heavy', 'mcp']) bucket`,
        [tenant.tenant_id],
      ),
    )
    return tenant
  }

  token(roles: readonly Role[] = allRoles, principal: Person = this.caller): Promise<string> {
    const key = `${principal} ${roles.join()}`
    const token = this.#tokens.get(key) ?? this.w.token({ tenant_id: this.tenant_id, roles, principal })
    this.#tokens.set(key, token)
    return token
  }

  /** What needs approval from now on, although the people of this tenant exist only in their tokens. */
  async setApprovalRules(rules: readonly object[]): Promise<void> {
    await this.w.setApprovalRules(this.tenant_id, rules)
  }

  /** As app inside this tenant, for what no operation makes. */
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.w.runtime.database.write(fullScope(this.tenant_id, 'operator:test'), body)
  }

  /** One row in each table of every module, as the canary tenant has them. */
  async insertCanaryRows(): Promise<void> {
    await this.write(async (tx) => {
      for (const module of this.w.kernel.modules) await module.canary(tx)
      const at = { table: 'owner_key', row_id: this.tenant_id, column: 'wrapped' }
      await this.w.kernel.encryption.encrypt(tx, { kind: 'object', id: uuidv7() }, at, Buffer.from('canary'))
    })
    // The record of another tenant, which is gone: no tenant has a row there.
    await this.w.seedContext.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      insertTenantDeletion(tx, { deleted_tenant_id: uuidv7(), audit_seq: 0, audit_hash: 'canary', row_counts: {} }),
    )
  }

  readonly user = once(() => this.newUser())
  async newUser(roles: readonly Role[] = ['viewer']): Promise<string> {
    const email = `${uuidv7()}@example.com`
    return (await this.make('POST /users', { body: { name: 'Ada Lovelace', email, roles } })).user_id
  }

  /** Has been used, so that its usage has something to show. */
  readonly key = once(async () => {
    const key = await this.newKey()
    const usage = new UsageCounter()
    usage.observe({ tenant_id: this.tenant_id, principal: `key:${key.key_id}`, operation: 'listUsers', status: 200 })
    await usage.flush(this.w.runtime.database)
    return key
  })
  async newKey(): Promise<{ key_id: string; secret: string }> {
    const made = await this.make('POST /api-keys', { body: { name: 'Core banking', roles: ['service'] } })
    return { key_id: made.key.key_id, secret: made.secret }
  }

  readonly upload = once(() => this.newUpload())
  async newUpload(): Promise<string> {
    const headers = { 'content-type': 'application/octet-stream' }
    return (await this.make('POST /uploads?file_name=example.bin', { payload: 'bytes', headers })).upload_id
  }

  readonly job = once(() => this.newJob())
  async newJob(): Promise<string> {
    return (await this.write((tx) => this.w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} }))).job_id
  }

  readonly endedJob = once(() => this.newEndedJob())
  async newEndedJob(): Promise<string> {
    return (await this.make(`POST /jobs/${await this.newJob()}/cancel`)).job_id
  }

  readonly changeRequest = once(() => this.newChangeRequest('compliance_officer'))
  /** Proposed by `author`, to be decided by somebody else with the role; afterwards nothing is governed again. */
  async newChangeRequest(role: Role): Promise<string> {
    const user_id = await this.newUser()
    // Only these approve; whoever else holds a role may still withdraw.
    const approver = role === 'tenant_admin' ? role : 'compliance_officer'
    await this.setApprovalRules([{ action: 'roles', approvers: 1, role: approver }])
    const token = await this.token(allRoles, this.author)
    const proposed = await this.make(`PUT /users/${user_id}/roles`, { token, body: { roles: ['analyst'] } })
    await this.setApprovalRules([])
    return proposed.cr_id
  }

  /** A change that `author` made in an emergency, to be acknowledged by somebody else with the role. */
  async newReview(required_role: Role): Promise<string> {
    const review_id = uuidv7()
    const change = { action: 'rollback', operation: 'rollBackDataset', params: { list_key: 'x' }, body: {} }
    await this.write((tx) =>
      insertBreakGlassReview(tx, { review_id, ...change, reason: 'Outage', required_role }, this.author),
    )
    return review_id
  }

  readonly auditEvent = once(async () => {
    await this.user()
    return (await this.make('GET /audit/events?limit=1')).items[0].event_id as string
  })

  /** An export with its file, or a verification with its report, run to the end. */
  readonly auditRun = (kind: 'export' | 'verification') => this.#auditRuns[kind]()
  readonly #auditRuns = {
    export: once(() => this.#runAudit('exports')),
    verification: once(() => this.#runAudit('verify')),
  }
  async #runAudit(path: 'exports' | 'verify'): Promise<string> {
    const job = await this.make(`POST /audit/${path}`, { body: {} })
    await this.runToEnd(job)
    return job.resource.split('/').at(-1)
  }

  /** Runs what is queued until the job has ended, and gives its end. */
  async runToEnd(job: { job_id: string; state: string }): Promise<Record<string, unknown>> {
    const runner = this.w.runtime.createRunner(2)
    runner.start()
    try {
      let now = job
      while (now.state === 'queued' || now.state === 'running') now = await this.make(`GET /jobs/${job.job_id}?wait=8`)
      return now
    } finally {
      await runner.stop(5000)
    }
  }

  async make(at: string, options: CallOptions = {}) {
    const reply = await this.w.call(at, { token: await this.token(), ...options })
    if (reply.status >= 300) throw new Error(`${at} answered ${reply.status} ${reply.text}`)
    return reply.json
  }
}
