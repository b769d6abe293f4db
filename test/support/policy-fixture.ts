/** Test support: a tenant's lists of points and the matrices that read them, to be changed under one another's feet. */
import { smallMatrix } from './small-definitions.ts'
import { startTestApp, type TestApp } from './test-app.ts'

export const pointsEntries = [
  { code: 'a', points: 1000 },
  { code: 'b', points: 8000 },
]

/** Each code scores as its list says; a code that is not on it cannot be decided on. */
export const buildPointsMatrix = (list_key: string, field = 'points', values = ['a', 'b']) => ({
  ...smallMatrix(),
  inputs: [{ name: 'code', title: 'Code', type: 'enum', values }],
  factors: [{ key: 'code', title: 'Code', form: 'lookup', list_key, inputs: ['code'], field, on_missing: 'fail' }],
  triggers: [],
})

export class PolicyFixture {
  readonly w: TestApp
  readonly #token: string
  #count = 0

  private constructor(w: TestApp, token: string) {
    this.w = w
    this.#token = token
  }

  static async create(): Promise<PolicyFixture> {
    const w = await startTestApp()
    const made = new PolicyFixture(w, await w.token())
    const schema = {
      type: 'object',
      properties: { code: { type: 'string', maxLength: 50 }, points: { type: 'integer', minimum: 0, maximum: 99_999 } },
      required: ['code', 'points'],
      additionalProperties: false,
    }
    const type = { type_key: 'points', title: 'Points', description: 'Points.', schema, key_pointers: ['/code'] }
    await made.make('POST /reference-data/types', { ...type, examples: [{ code: 'a', points: 1 }] })
    return made
  }

  call(at: string, body?: unknown) {
    return this.w.call(at, { token: this.#token, ...(body !== undefined && { body }) })
  }

  async make(at: string, body: unknown) {
    const reply = await this.call(at, body)
    if (reply.status >= 300) throw new Error(`${at}: ${reply.status} ${reply.text}`)
    return reply.json
  }

  newKey(stem: string): string {
    this.#count += 1
    return `${stem}-${this.#count}`
  }

  /** A list of the tenant's own, version 1 in force. */
  async newList(data: object[] = pointsEntries): Promise<string> {
    const list_key = this.newKey('points')
    await this.make('POST /reference-data/datasets', { list_key, type_key: 'points', title: 'Points' })
    await this.addVersion(list_key, data)
    await this.make(`POST /reference-data/datasets/${list_key}/activations`, { version: 1, reason: 'first' })
    return list_key
  }

  async addVersion(list_key: string, data: object[]): Promise<number> {
    return (await this.make(`POST /reference-data/datasets/${list_key}/versions`, { data })).version
  }

  activateList(list_key: string, version: number, more: object = {}) {
    return this.call(`POST /reference-data/datasets/${list_key}/activations`, { version, reason: 'next', ...more })
  }

  async newMatrix(definition: object, active = true): Promise<string> {
    const matrix_key = this.newKey('gated')
    await this.make('POST /risk-matrices', { matrix_key, title: 'Gated', definition })
    await this.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    if (active) await this.make(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'first' })
    return matrix_key
  }
}
