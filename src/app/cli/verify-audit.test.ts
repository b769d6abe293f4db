/** `verify audit` with checkpoints that an examiner kept: what a signature alone cannot show. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditEvent, createAuditKeys, GENESIS_HASH, hashEvent, hashLink } from '#kernel/audit/chain.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { deriveIntegrityKeys } from '#kernel/integrity/keys.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { main } from '../main.ts'

const keys = createAuditKeys(deriveIntegrityKeys(createKeyring(Buffer.alloc(32, 3))))
const { public_key, key_id } = keys
const tenant_id = '00000000-0000-7000-8000-0000000000a1'
const dayOf = (seq: number) => `2026-01-${String(seq).padStart(2, '0')}T00:00:00.000000Z`

let folder: string
let files = 0
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-kept-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
function save(text: string): string {
  const file = path.join(folder, String(++files))
  fs.writeFileSync(file, text)
  return file
}

function linkOf(seq: number, prev_hash: string) {
  const facts = { operation: 'updateThing', object_type: 'things', object_id: '1', request_id: null, detail: '{}' }
  const event: AuditEvent = { tenant_id, event_id: uuidv7(), recorded_at: dayOf(seq), actor: 'user:a', ...facts }
  const hash = hashLink(prev_hash, seq, hashEvent(event))
  return { line: 'link', seq, event_id: event.event_id, prev_hash, hash, event }
}
const links: ReturnType<typeof linkOf>[] = []
for (let seq = 1; seq <= 9; seq++) links.push(linkOf(seq, links.at(-1)?.hash ?? GENESIS_HASH))
const checkpoint = (seq: number) =>
  keys.signCheckpoint(tenant_id, { seq, hash: links[seq - 1]?.hash as string }, dayOf(seq))

/** As it is exported, or as it looks when it was cut back to a checkpoint. */
function exported({ first_seq = 1, last_seq = 9 } = {}): string {
  const manifest = { line: 'manifest', format: 'probity-audit-export/1', tenant_id, public_key, key_id }
  const lines = [{ ...manifest, earlier_keys: [], first_seq, last_seq }, ...links.slice(first_seq - 1, last_seq)]
  return [...lines, { line: 'end', ...checkpoint(last_seq) }].map((line) => JSON.stringify(line)).join('\n')
}
const kept = (...items: object[]) => save(JSON.stringify({ items, next_cursor: null, public_key }))

async function verify(file: string, ...words: string[]) {
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), note: (text: string) => void out.push(text) }
  const code = await main(['verify', 'audit', save(file), '--key', public_key, ...words], {}, terminal)
  return [code, out.join('\n')]
}

test('events without content are counted', async () => {
  const [manifest, ...rest] = exported().split('\n') as [string, ...string[]]
  const withheld = rest.map((line) => {
    const link = JSON.parse(line)
    if (link.seq !== 3 && link.seq !== 5) return line
    if (link.line !== 'link') return line
    return JSON.stringify({ ...link, event_id: null, event: null, event_hash: hashEvent(link.event) })
  })
  const file = [manifest.replace('probity-audit-export/1', 'probity-audit-export/2'), ...withheld].join('\n')
  const [code, text] = await verify(file)
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/^Intact: 9 events \(1 to 9\), 2 of them without content, of tenant /),
  ])
})

test('a record that contains the kept checkpoints is intact', async () => {
  expect(await verify(exported(), '--kept', kept(checkpoint(4), checkpoint(9)))).toEqual([
    0,
    expect.stringMatching(/^Intact: 9 events \(1 to 9\) .*, end signed 2026-01-09T00:00:00.000000Z$/),
  ])
})

test('one that was cut back is consistent in itself and says how old it is; a later checkpoint shows what is gone', async () => {
  const cut = exported({ last_seq: 4 })
  expect(await verify(cut)).toEqual([0, expect.stringMatching(/^Intact: 4 events .* end signed 2026-01-04T/)])
  expect(await verify(cut, '--kept', kept(checkpoint(9)))).toEqual([
    1,
    expect.stringContaining('at 9: chain_truncated: a kept checkpoint states that link 9 existed'),
  ])
})

test.each([
  ['has another hash here', { ...checkpoint(4), hash: checkpoint(3).hash }],
  ['speaks of another tenant', { ...checkpoint(4), tenant_id: '00000000-0000-7000-8000-0000000000a2' }],
])('a kept checkpoint that %s contradicts the record', async (words, item) => {
  expect(await verify(exported(), '--kept', kept(item))).toEqual([
    1,
    expect.stringContaining(`at 4: checkpoint_contradicted: the kept checkpoint ${words}`),
  ])
})

test('what lies before the file is not passed off as compared', async () => {
  expect(await verify(exported({ first_seq: 5 }), '--kept', kept(checkpoint(4), checkpoint(6)))).toEqual([
    0,
    expect.stringContaining('\n  kept checkpoints from before this file, which cannot be compared: 1'),
  ])
})
