/** Lists long enough to have a stored tree: proofs, differences, exports and searches answer from what is stored with a version. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '../../../test/support/example-tenant.ts'
import { type World, world } from '../../../test/support/world.ts'
import { entryHash, keyHash } from '../../registry/content/hashes.ts'
import { verifyProof } from '../../registry/content/merkle.ts'

const LIST = 'long-list'
const AT = `/reference-data/datasets/${LIST}`
const SIZE = 3000

interface Party {
  readonly id: string
  readonly name: string
  readonly score: number
}
const party = (n: number, score = n % 10): Party => ({
  id: `P-${String(n).padStart(5, '0')}`,
  name: `Party number ${n}`,
  score,
})

let w: World
let t: ExampleTenant
beforeAll(async () => {
  w = await world()
  t = await ExampleTenant.create(w)
  await t.make('POST /reference-data/types', {
    body: {
      type_key: LIST,
      title: 'Party',
      description: 'A party.',
      schema: {
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: 'string' }, score: { type: 'integer' } },
        required: ['id', 'name'],
        additionalProperties: false,
      },
      key_pointers: ['/id'],
      examples: [party(1)],
    },
  })
  await t.make('POST /reference-data/datasets', { body: { list_key: LIST, type_key: LIST, title: 'Parties' } })
  await importVersion(Array.from({ length: SIZE }, (_, n) => party(n)))
  // 60 changed, 20 removed, 10 added.
  const second = Array.from({ length: SIZE + 10 }, (_, n) => party(n, n < 60 ? 77 : n % 10))
  await importVersion(second.filter((_, n) => n < 100 || n >= 120))
})
afterAll(() => w.close())

async function importVersion(entries: readonly Party[]) {
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = entries.map((entry) => JSON.stringify(entry)).join('\n')
  const { upload_id } = await t.make('POST /uploads?file_name=list', { payload, headers })
  const body = { list_key: LIST, upload_id, adapter_key: 'ndjson' }
  const job = await t.make('POST /reference-data/imports', { body })
  await t.ran(job)
}

const proofOf = (version: number, key: string) => t.make(`GET ${AT}/versions/${version}/proof?key=${key}`)

describe('a proof from the stored tree', () => {
  const cases = [
    [1, 'P-00005', party(5)],
    [2, 'P-00005', party(5, 77)],
    [1, 'P-00110', party(110)],
    [2, 'P-00110', null],
    [1, 'P-03005', null],
    [2, 'P-03005', party(3005)],
    [2, 'nobody', null],
  ] as const
  test.each(cases)('of version %i says whether %s is in it, and verifies', async (version, key, entry) => {
    const { content_hash } = await t.make(`GET ${AT}/versions/${version}`)
    const answer = await proofOf(version, key)
    expect(answer).toMatchObject({ key, present: entry !== null, entry })
    expect(answer.proof).toMatchObject({ root: content_hash, key_hash: keyHash(key) })
    if (entry) expect(answer.proof.entry_hash).toBe(entryHash(JSON.stringify(entry)))
    expect(verifyProof(answer.proof)).toBe(true)
  })

  test('the first version stores all pairs and the second only those that changed', async () => {
    const rows = await t.write((tx) =>
      tx.query<{ version: number; base_version: number; pairs: number }>(
        `select t.version, t.base_version, sum(length(b.pairs) / 64)::bigint as pairs from app.dataset_tree t
           join app.dataset_tree_block b using (tenant_id, dataset_id, version)
          where t.tenant_id = $1 group by 1, 2 order by 1`,
        [t.tenant_id],
      ),
    )
    expect(rows.map(({ version, base_version, pairs }) => [version, base_version, pairs])).toEqual([
      [1, 1, SIZE],
      [2, 1, 90],
    ])
  })
})
