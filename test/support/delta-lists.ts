/** Lists of parties with full and delta imports, for the tests of delta imports. */
import pg from 'pg'
import { ExampleTenant } from './example-tenant.ts'
import { startTestApp, type TestApp } from './test-app.ts'

export interface Party {
  readonly id: string
  readonly name: string
  readonly score?: number
  readonly aliases?: readonly string[]
}
export const party = (n: number, score = n % 10): Party => ({
  id: `P-${String(n).padStart(5, '0')}`,
  name: `Party number ${n}`,
  score,
  aliases: [`Alias ${n}`, `Other ${n}`],
})
export const parties = (count: number) => Array.from({ length: count }, (_, n) => party(n))

export const partyType = {
  title: 'Party',
  description: 'A party.',
  schema: {
    type: 'object',
    properties: {
      id: { type: 'string', maxLength: 20 },
      name: { type: 'string' },
      score: { type: 'integer' },
      aliases: { type: 'array', items: { type: 'string' } },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  },
  key_pointers: ['/id'],
  fields: { '/aliases': { title: 'Aliases', set: true } },
  examples: [party(1)],
}

export const ndjson = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')

export const marker = { pointer: '/action', values: ['D', 'delisted'] }
export const toDelta = (base_version: number, removed?: object) => ({
  delta: { base_version, ...(removed && { removed }) },
})

export class DeltaLists {
  readonly #w: TestApp
  readonly tenant: ExampleTenant
  #count = 0

  private constructor(w: TestApp, tenant: ExampleTenant) {
    this.#w = w
    this.tenant = tenant
  }

  static async start(): Promise<DeltaLists> {
    const w = await startTestApp()
    return new DeltaLists(w, await ExampleTenant.create(w))
  }

  get app(): TestApp {
    return this.#w
  }

  async newList({ guards = {}, ...more }: { guards?: object; list_rules?: object } = {}): Promise<string> {
    const list_key = `delta-${++this.#count}`
    await this.tenant.make('POST /reference-data/types', { body: { type_key: list_key, ...partyType, ...more } })
    await this.tenant.make('POST /reference-data/datasets', {
      body: { list_key, type_key: list_key, title: 'List', guards },
    })
    return list_key
  }

  /** Uploads the rows and returns the body of an import request. */
  async toRequest(list_key: string, rows: readonly object[] | string, more: object = {}) {
    const payload = typeof rows === 'string' ? rows : ndjson(rows)
    const headers = { 'content-type': 'application/octet-stream' }
    const { upload_id } = await this.tenant.make('POST /uploads?file_name=list', { payload, headers })
    return { list_key, upload_id, adapter_key: 'ndjson', ...more }
  }

  getImport(job: { resource: string }) {
    return this.tenant.make(`GET ${job.resource.replace('/api', '')}`)
  }

  async importInto(list_key: string, rows: readonly object[] | string, more: object = {}) {
    const job = await this.tenant.make('POST /reference-data/imports', {
      body: await this.toRequest(list_key, rows, more),
    })
    await this.tenant.runToEnd(job)
    return this.getImport(job)
  }

  /** Requests an import and returns status and body, whether it is accepted or not. */
  async requestImport(list_key: string, rows: readonly object[], more: object) {
    const reply = await this.#w.call('POST /reference-data/imports', {
      token: await this.tenant.token(),
      body: await this.toRequest(list_key, rows, more),
    })
    return { status: reply.status, ...reply.json }
  }

  getVersion(list_key: string, version: number) {
    return this.tenant.make(`GET /reference-data/datasets/${list_key}/versions/${version}`)
  }

  /** Runs SQL that the application's role may not run. */
  async runAsOwner(sql: string): Promise<void> {
    const owner = new pg.Client(this.#w.clone.postgres)
    await owner.connect()
    await owner.query(sql).finally(() => owner.end())
  }

  close(): Promise<void> {
    return this.#w.close()
  }
}
