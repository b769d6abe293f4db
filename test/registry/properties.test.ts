/** Properties of the registry over generated lists: differences apply, exports read back, overlays merge, nothing loosens. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type Rating, ratingType, SharedList } from '../support/shared-list.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let runner: ReturnType<TestApp['runtime']['createRunner']>
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  runner = w.runtime.createRunner(4)
  runner.start()
  await t.make('POST /reference-data/types', { body: { type_key: 'party', ...partyType } })
  await t.make('POST /reference-data/types', { body: { type_key: 'rating', ...ratingType } })
})
afterAll(async () => {
  await runner.stop(5000)
  await w.close()
})

const RUNS = { numRuns: 12, seed: 20260301 }

interface Party {
  readonly code: string
  readonly name: string
  readonly score?: number
  readonly tags?: readonly string[]
  readonly at?: { readonly [name: string]: string }
}
const partyType = {
  title: 'Party',
  description: 'Members of every kind.',
  schema: {
    type: 'object',
    properties: {
      code: { type: 'string', maxLength: 20 },
      name: { type: 'string', maxLength: 40 },
      score: { type: 'integer', minimum: -1000, maximum: 1000 },
      tags: { type: 'array', items: { type: 'string', maxLength: 20 }, maxItems: 5 },
      at: { type: 'object', additionalProperties: { type: 'string', maxLength: 20 } },
    },
    required: ['code', 'name'],
    additionalProperties: false,
  },
  key_pointers: ['/code'],
  examples: [{ code: 'A', name: 'x' }],
}

const word = fc.string({
  unit: fc.constantFrom('a', 'B', '0', ' ', 'ü', '漢', '"', '/', '~', '\\', "'", ',', '=', '-'),
  minLength: 1,
  maxLength: 8,
})
const partyOf = (code: string): fc.Arbitrary<Party> =>
  fc.record(
    {
      code: fc.constant(code),
      name: word,
      score: fc.integer({ min: -1000, max: 1000 }),
      tags: fc.array(word, { minLength: 1, maxLength: 4 }),
      at: fc.dictionary(fc.constantFrom('street', 'a/b', 'c~d', 'city'), word, { minKeys: 1, maxKeys: 3 }),
    },
    { requiredKeys: ['code', 'name'] },
  )
const parties = fc
  .subarray(['A', 'B', 'C/1', 'D~2', 'É', 'f g'], { minLength: 1 })
  .chain((codes) => fc.tuple(...codes.map(partyOf)))

let lists = 0
async function newList(type_key: string): Promise<string> {
  const list_key = `list-${++lists}`
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: 'Generated' } })
  return list_key
}
const publish = (list_key: string, data: readonly object[]) =>
  t.make(`POST /reference-data/datasets/${list_key}/versions`, { body: { data } })
const dataOf = async (list_key: string, version: number): Promise<Party[]> =>
  (await t.make(`GET /reference-data/datasets/${list_key}/versions/${version}`)).data
const inKeyOrder = <T extends { code: string }>(entries: readonly T[]): T[] =>
  entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.code), Buffer.from(b.code)))

interface Operation {
  readonly op: 'add' | 'remove' | 'replace'
  readonly path: string
  readonly value?: unknown
}
/** RFC 6902 as far as differences use it, written apart from the product. */
function applyPatch(target: unknown, operations: readonly Operation[]): unknown {
  const document = { root: structuredClone(target) } as Record<string, unknown>
  for (const { op, path, value } of operations) {
    const steps = [
      'root',
      ...path
        .split('/')
        .slice(1)
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
    ]
    const last = steps.pop() as string
    let parent = document as Record<string, unknown> | unknown[]
    for (const step of steps) parent = (parent as Record<string, unknown>)[step] as never
    if (Array.isArray(parent)) {
      if (op === 'add') parent.splice(last === '-' ? parent.length : Number(last), 0, value)
      else if (op === 'remove') parent.splice(Number(last), 1)
      else parent[Number(last)] = value
    } else if (op === 'remove') delete parent[last]
    else parent[last] = value
  }
  return document['root']
}

describe('a difference', () => {
  test('applied to one version gives the other, in either direction', async () => {
    await fc.assert(
      fc.asyncProperty(parties, parties, async (before, after) => {
        const list_key = await newList('party')
        await publish(list_key, before)
        await publish(list_key, after)
        for (const [from, to] of [
          [1, 2],
          [2, 1],
        ] as const) {
          const at = `GET /reference-data/datasets/${list_key}/diff?from=${from}&to=${to}&format=json-patch&limit=200`
          const { items, from_hash, to_hash } = await t.make(at)
          const entries = Object.fromEntries((await dataOf(list_key, from)).map((entry) => [entry.code, entry]))
          const patch = items.flatMap((item: { patch: unknown[] }) => item.patch)
          const patched = applyPatch(entries, patch) as Record<string, Party>
          expect(inKeyOrder(Object.values(patched))).toEqual(await dataOf(list_key, to))
          expect(items.length === 0).toBe(from_hash === to_hash)
        }
        expect(await dataOf(list_key, 2)).toEqual(inKeyOrder(after))
      }),
      RUNS,
    )
  })
})

describe('an export', () => {
  const FORMATS = ['json', 'ndjson', 'csv', 'xlsx'] as const

  /** Exports the first version and imports what came out: the state and content hash of the version it made. */
  async function roundTrip(list_key: string, format: (typeof FORMATS)[number]) {
    const at = `GET /reference-data/datasets/${list_key}/versions/1/export?format=${format}&formula_guard=false`
    const { bytes } = await w.call(at, { token: await t.token() })
    const headers = { 'content-type': 'application/octet-stream' }
    const { upload_id } = await t.make('POST /uploads?file_name=export', { payload: bytes, headers })
    let job = await t.make('POST /reference-data/imports', { body: { list_key, upload_id, adapter_key: format } })
    const { resource } = job
    while (job.state === 'queued' || job.state === 'running') job = await t.make(`GET /jobs/${job.job_id}?wait=8`)
    const { state, version } = await t.make(`GET ${resource}`)
    const made = await t.make(`GET /reference-data/datasets/${list_key}/versions/${version}`)
    return { format, state, content_hash: made.content_hash }
  }

  test('in any format reads back to the same hash', async () => {
    await fc.assert(
      fc.asyncProperty(parties, async (data) => {
        const list_key = await newList('party')
        const { content_hash } = await publish(list_key, data)
        const made = await Promise.all(FORMATS.map((format) => roundTrip(list_key, format)))
        expect(made).toEqual(FORMATS.map((format) => ({ format, state: 'published', content_hash })))
      }),
      { ...RUNS, numRuns: 4 },
    )
  })
})

const COUNTRIES = ['AA', 'BB', 'CC', 'DD']
const RANK = { low: 0, medium: 1, high: 2 }
const rating = fc.constantFrom<Rating['rating']>('low', 'medium', 'high')
const score = fc.integer({ min: 0, max: 100 })
const note = fc.constantFrom('x', 'y')
const ratingOf = (country: string): fc.Arbitrary<Rating> =>
  fc.record({ country: fc.constant(country), rating, score, note }, { requiredKeys: ['country', 'rating'] })
const ratings = fc
  .subarray(COUNTRIES, { minLength: 1 })
  .chain((countries) => fc.tuple(...countries.map(ratingOf)) as fc.Arbitrary<Rating[]>)

interface Change {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly value?: Partial<Record<keyof Rating, unknown>>
}
const patch = fc.record({ rating, score: fc.option(score), note: fc.option(note) }, { requiredKeys: [] })
const changeOf = (key: string): fc.Arbitrary<Change> =>
  fc.oneof(
    ratingOf(key).map((value): Change => ({ key, op: 'put', value: { ...value } })),
    patch.map((value): Change => ({ key, op: 'merge', value })),
    fc.constant<Change>({ key, op: 'remove' }),
  )
const changes = fc
  .subarray(COUNTRIES, { minLength: 1 })
  .chain((keys) => fc.tuple(...keys.map(changeOf)) as fc.Arbitrary<Change[]>)

/** What the change makes of the entry, by hand. */
function laid(base: Rating | undefined, { op, value }: Change): Rating | undefined {
  if (op === 'remove') return undefined
  if (op === 'put') return value as unknown as Rating
  if (!base) return undefined
  const merged = Object.entries({ ...base, ...value }).filter(([, member]) => member !== null)
  return Object.fromEntries(merged) as unknown as Rating
}
/** No less strict than the base in anything, and otherwise the same. */
const isTighter = (base: Rating | undefined, now: Rating | undefined): boolean =>
  base === undefined ||
  (now !== undefined &&
    RANK[now.rating] >= RANK[base.rating] &&
    (base.score === undefined || (now.score !== undefined && now.score >= base.score)) &&
    now.note === base.note)

const overlayOf = async ({ list_key }: SharedList, entries: readonly Change[]) =>
  w.call(`PUT /reference-data/datasets/${list_key}/overlay`, {
    token: await t.token(),
    body: { entries, reason: 'ours' },
  })
async function effective({ list_key }: SharedList): Promise<Map<string, Rating | undefined>> {
  const { results } = await t.make('POST /reference-data/lookup', {
    body: { lookups: [{ list_key, keys: COUNTRIES }] },
  })
  const found = results[0].entries as { key: string; entry: Rating | null }[]
  return new Map(found.map(({ key, entry }) => [key, entry ?? undefined]))
}
const byCountry = (entries: readonly Rating[]) => new Map(entries.map((entry) => [entry.country, entry]))

describe('an overlay', () => {
  test('on a free list is what it says, applied by hand, also over the next base', async () => {
    await fc.assert(
      fc.asyncProperty(ratings, ratings, changes, async (first, second, overlay) => {
        const list = await SharedList.create(w, 'free', first)
        const known = byCountry(first)
        const fitting = overlay.filter(({ key, op }) => op !== 'merge' || known.has(key))
        fc.pre(fitting.length > 0)
        expect((await overlayOf(list, fitting)).status).toBe(200)
        for (const base of [first, second]) {
          if (base === second) await list.publish(second)
          const under = byCountry(base)
          const expected = COUNTRIES.map((country) => {
            const change = fitting.find(({ key }) => key === country)
            return [country, change ? laid(under.get(country), change) : under.get(country)]
          })
          expect([...(await effective(list))]).toEqual(expected)
        }
      }),
      RUNS,
    )
  })

  test('on a tighten-only list never loosens: not when it is made, nor when the base moves', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(
        ratings,
        fc.array(ratings, { minLength: 1, maxLength: 3 }),
        changes,
        async (first, later, overlay) => {
          const list = await SharedList.create(w, 'tighten_only', first)
          const known = byCountry(first)
          for (const change of overlay) {
            const { status } = await overlayOf(list, [change])
            const base = known.get(change.key)
            const sound = base === undefined ? change.op === 'put' : isTighter(base, laid(base, change))
            expect([change, status === 200]).toEqual([change, sound])
            if (status === 200) taken++
            for (const moved of [first, ...later]) {
              if (moved !== first || later.length > 0) await list.publish(moved)
              const now = await effective(list)
              for (const entry of moved)
                expect([entry, isTighter(entry, now.get(entry.country))]).toEqual([entry, true])
            }
            await list.publish(first)
          }
        },
      ),
      { ...RUNS, numRuns: 8 },
    )
    expect(taken).toBeGreaterThan(3)
  })
})

describe('no way round a tighten-only list', () => {
  const strict: Rating = { country: 'AA', rating: 'high' }

  test('by a pin: it needs an end within 90 days, and the overlay over it is held to the same policy', async () => {
    const list = await SharedList.create(w, 'tighten_only', [strict])
    const token = await t.token()
    const pin = async (days: number | null) => {
      const expires_at = days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString()
      const body = { version: 1, reason: 'review', expires_at }
      return (await w.call(`POST /reference-data/datasets/${list.list_key}/pin`, { token, body })).status
    }
    expect(await pin(null)).toBe(409)
    expect(await pin(91)).toBe(409)
    expect(await pin(89)).toBe(201)
    expect((await overlayOf(list, [{ key: 'AA', op: 'merge', value: { rating: 'low' } }])).json.code).toBe(
      'type_violation',
    )
    expect((await effective(list)).get('AA')).toEqual(strict)
  })

  test('by an own list of the same name', async () => {
    const list = await SharedList.create(w, 'tighten_only', [strict])
    const body = { list_key: list.list_key, type_key: 'rating', title: 'Our own' }
    const made = await w.call('POST /reference-data/datasets', { token: await t.token(), body })
    expect([made.status, made.json.code]).toEqual([409, 'list_key_reserved'])
    const version = { data: [{ ...strict, rating: 'low' }] }
    const pushed = await w.call(`POST /reference-data/datasets/${list.list_key}/versions`, {
      token: await t.token(),
      body: version,
    })
    expect(pushed.status).toBe(409)
    expect((await effective(list)).get('AA')).toEqual(strict)
  })
})
