/** The chain in memory: what fits is intact, and every tampering is found where it happened. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyring } from '../encryption/keyring.ts'
import { deriveIntegrityKeys } from '../integrity/keys.ts'
import { uuidv7 } from '../uuid.ts'
import {
  type AuditEvent,
  createAuditKeys,
  createHmacSha256,
  type EarlierKey,
  GENESIS_HASH,
  hashEvent,
  hashLink,
  verifyCheckpoint,
  verifySuccession,
} from './chain.ts'
import { ChainVerifier } from './chain-verifier.ts'
import { verifyExport } from './export-verifier.ts'
import type { EventRow, LinkRow } from './queries.ts'

const keys = createAuditKeys(deriveIntegrityKeys(createKeyring(Buffer.alloc(32, 3))))
const tenant_id = '00000000-0000-7000-8000-0000000000a1'
const at = '2026-01-01T00:00:00.000000Z'

function makeEvent(n: number): EventRow {
  const event: AuditEvent = {
    tenant_id,
    event_id: uuidv7(),
    recorded_at: at,
    actor: `user:${n % 3}`,
    operation: 'updateThing',
    object_type: 'things',
    object_id: String(n),
    request_id: null,
    detail: JSON.stringify({ n }),
  }
  return { ...event, mac: keys.computeEventMac(event), txid: n, restriction_id: null }
}

interface Stored {
  events: EventRow[]
  links: LinkRow[]
}

function makeChain(count: number): Stored {
  const events = Array.from({ length: count }, (_, i) => makeEvent(i + 1))
  const links: LinkRow[] = []
  let prev_hash = GENESIS_HASH
  events.forEach((event, i) => {
    const hash = hashLink(prev_hash, i + 1, hashEvent(event))
    links.push({ seq: i + 1, event_id: event.event_id, prev_hash, hash, event_hash: null })
    prev_hash = hash
  })
  return { events, links }
}

function headOf({ events, links }: Stored) {
  const last = links.at(-1) as LinkRow
  const event = events.at(-1) as EventRow
  const end = { seq: last.seq, hash: last.hash }
  return {
    ...end,
    mac: keys.computeHeadMac(tenant_id, end),
    last_txid: event.txid,
    last_event_id: event.event_id,
    in_this_cluster: true,
  }
}

function verify(stored: Stored, head: ReturnType<typeof headOf> | undefined) {
  const walk = new ChainVerifier(keys, [])
  const byId = new Map(stored.events.map((event) => [event.event_id, event]))
  for (const link of [...stored.links].sort((a, b) => a.seq - b.seq))
    walk.checkLink({ ...link, event: byId.get(link.event_id) ?? null })
  const linked = new Set(stored.links.map(({ event_id }) => event_id))
  for (const event of stored.events) if (!linked.has(event.event_id)) walk.checkUnlinkedEvent(event, head)
  walk.head(tenant_id, head)
  return walk.finish(0)
}

describe('the code of an event', () => {
  const expected = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest('hex')

  test('is that of RFC 4231', () => {
    expect(createHmacSha256(Buffer.from('Jefe'))('what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })

  test('equals the HMAC of Node for any key and text, also for texts of growing length', () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 64 })
    fc.assert(
      fc.property(bytes, fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 5 }), (key, texts) => {
        const code = createHmacSha256(Buffer.from(key))
        for (const text of [...texts, '\ud800', 'ä'.repeat(3000), ...texts])
          expect(code(text)).toBe(expected(Buffer.from(key), text))
      }),
      { numRuns: 300, seed: 20_262 },
    )
  })

  test('refuses a key longer than a block', () => {
    expect(() => createHmacSha256(Buffer.alloc(65))).toThrow(TypeError)
  })

  test('equals a stored code of an earlier release', () => {
    const event = { ...makeEvent(1), event_id: '01900000-0000-7000-8000-000000000001' }
    expect(keys.computeEventMac(event)).toBe('6f703abaea8b1e324da6ee47abbd9e4fff1f8a250e088f60aaa1916a8931943f')
  })
})

describe('the chain', () => {
  test('an unaltered chain is intact, and its unchained events are counted', () => {
    const stored = makeChain(50)
    const head = headOf(stored)
    stored.events.push(makeEvent(51))
    expect(verify(stored, head)).toMatchObject({ intact: true, events: 50, head_seq: 50, unsealed: 1, faults: [] })
  })

  test('an event before a position of the same cluster needs a link, before one of another it only waits for it', () => {
    const stored = makeChain(5)
    const head = headOf(stored)
    stored.events.push({ ...makeEvent(6), txid: 2 })
    expect(verify(stored, head).faults).toEqual([expect.objectContaining({ fault: 'event_planted' })])
    expect(verify(stored, { ...head, in_this_cluster: false })).toMatchObject({ intact: true, unsealed: 1 })
  })

  const size = 12
  const original = makeChain(size)
  const head = headOf(original)
  const planted = makeEvent(999)
  const place = fc.integer({ min: 1, max: size })
  const member = fc.constantFrom(
    'recorded_at',
    'actor',
    'operation',
    'object_type',
    'object_id',
    'detail',
    'mac',
    'event_id',
  )
  const tampering = fc.oneof(
    fc.record({ kind: fc.constant('edit event' as const), place, member, text: fc.string({ minLength: 1 }) }),
    fc.record({ kind: fc.constant('delete event' as const), place }),
    fc.record({ kind: fc.constant('delete link' as const), place }),
    fc.record({
      kind: fc.constant('edit link' as const),
      place,
      member: fc.constantFrom('hash', 'prev_hash'),
      nibble: fc.integer({ min: 0, max: 63 }),
    }),
    fc.record({ kind: fc.constant('swap links' as const), place, other: place }),
    fc.record({ kind: fc.constant('plant event' as const), place }),
    fc.record({ kind: fc.constant('truncate' as const), place }),
  )

  test('detects ten thousand random alterations, at or next to their position', () => {
    fc.assert(
      fc.property(tampering, (change) => {
        const stored = { events: [...original.events], links: [...original.links] }
        const i = change.place - 1
        const event = stored.events[i] as EventRow
        const link = stored.links[i] as LinkRow
        let where = change.place
        if (change.kind === 'edit event') {
          const before = event[change.member as 'actor']
          stored.events[i] = { ...event, [change.member]: `${change.text}${before}` }
        } else if (change.kind === 'delete event') stored.events.splice(i, 1)
        else if (change.kind === 'delete link') stored.links.splice(i, 1)
        else if (change.kind === 'edit link') {
          const text = link[change.member as 'hash']
          const flipped = text[change.nibble] === '0' ? '1' : '0'
          stored.links[i] = {
            ...link,
            [change.member]: text.slice(0, change.nibble) + flipped + text.slice(change.nibble + 1),
          }
        } else if (change.kind === 'swap links') {
          fc.pre(change.place !== change.other)
          const other = stored.links[change.other - 1] as LinkRow
          stored.links[i] = { ...link, event_id: other.event_id }
          stored.links[change.other - 1] = { ...other, event_id: link.event_id }
          where = Math.min(change.place, change.other)
        } else if (change.kind === 'plant event') {
          stored.events.push({ ...planted, txid: event.txid, event_id: `00000000${planted.event_id.slice(8)}` })
        } else {
          stored.links.splice(i)
          where = change.place - 1
        }
        const result = verify(stored, head)
        expect(result.intact).toBe(false)
        if (change.kind === 'plant event') expect(result.faults.some(({ event_id }) => event_id !== null)).toBe(true)
        else expect(result.faults.some(({ seq }) => seq !== null && Math.abs(seq - where) <= 1)).toBe(true)
      }),
      { numRuns: 10_000, seed: 20_261 },
    )
  })

  test('the end of the chain cannot be changed without the key', () => {
    const stored = makeChain(10)
    stored.links.splice(6)
    stored.events.splice(6)
    const last = stored.links.at(-1) as LinkRow
    const forged = { ...headOf(makeChain(10)), seq: last.seq, hash: last.hash }
    expect(verify(stored, forged).faults).toContainEqual(expect.objectContaining({ fault: 'head_altered' }))
    expect(verify(stored, undefined).faults).toContainEqual(expect.objectContaining({ fault: 'head_altered' }))
  })
})

describe('checkpoints', () => {
  const stored = makeChain(5)
  const end = { seq: 5, hash: (stored.links[4] as LinkRow).hash }
  const checkpoint = keys.signCheckpoint(tenant_id, end, at)

  test('verify with the public key alone, and only as they were signed', () => {
    expect(verifyCheckpoint(checkpoint, keys.public_key)).toBe(true)
    expect(verifyCheckpoint({ ...checkpoint, seq: 4 }, keys.public_key)).toBe(false)
    expect(verifyCheckpoint({ ...checkpoint, hash: GENESIS_HASH }, keys.public_key)).toBe(false)
    expect(verifyCheckpoint({ ...checkpoint, tenant_id: uuidv7() }, keys.public_key)).toBe(false)
    const other = createAuditKeys(deriveIntegrityKeys(createKeyring(Buffer.alloc(32, 4))))
    expect(verifyCheckpoint(checkpoint, other.public_key)).toBe(false)
    expect(verifyCheckpoint(checkpoint, 'not a key')).toBe(false)
  })

  test('show a truncation even when head and events were removed too', () => {
    const walk = new ChainVerifier(keys, [checkpoint])
    for (const [i, link] of stored.links.slice(0, 3).entries())
      walk.checkLink({ ...link, event: stored.events[i] as EventRow })
    expect(walk.finish(1).faults).toEqual([expect.objectContaining({ fault: 'chain_truncated', seq: 5 })])
  })
})

describe('after a rotation of the master key', () => {
  const [old_key, new_key] = [Buffer.alloc(32, 3), Buffer.alloc(32, 5)]
  const rotated = createAuditKeys(deriveIntegrityKeys(createKeyring([new_key, old_key])))
  const withoutKeys = createAuditKeys(deriveIntegrityKeys(createKeyring(new_key)))
  const end = { seq: 7, hash: GENESIS_HASH }

  test('the newest key signs, and what an older one made is still recognised', () => {
    expect(rotated.key_id).toBe(withoutKeys.key_id)
    expect(rotated.key_id).not.toBe(keys.key_id)
    expect(rotated.signCheckpoint(tenant_id, end, at).key_id).toBe(rotated.key_id)
    const { mac, ...event } = makeEvent(1)
    const checkpoint = keys.signCheckpoint(tenant_id, end, at)
    const recognises = (by: typeof keys) => [
      by.verifyEventMac(event, mac),
      by.verifyHeadMac(tenant_id, end, keys.computeHeadMac(tenant_id, end)),
      by.verifyCheckpoint(checkpoint),
    ]
    expect(recognises(rotated)).toEqual([true, true, true])
    expect(recognises(withoutKeys)).toEqual([false, false, false])
    expect(rotated.verifyEventMac({ ...event, actor: 'user:other' }, mac)).toBe(false)
    expect(rotated.verifyCheckpoint({ ...checkpoint, seq: 6 })).toBe(false)
    expect(rotated.verifyCheckpoint({ ...checkpoint, key_id: rotated.key_id })).toBe(false)
  })

  test('only the old key itself names its successor', () => {
    const [earlier] = rotated.earlier_keys as [EarlierKey]
    expect(earlier.public_key).toBe(keys.public_key)
    expect(verifySuccession(earlier, rotated.public_key)).toBe(true)
    expect(verifySuccession(earlier, keys.public_key)).toBe(false)
    expect(verifySuccession({ ...earlier, public_key: withoutKeys.public_key }, rotated.public_key)).toBe(false)
  })
})

describe('an exported file', () => {
  const stored = makeChain(20)
  const lines = (by = keys, passed: object[] = []): string[] => {
    const end = { seq: 20, hash: (stored.links[19] as LinkRow).hash }
    const manifest = {
      line: 'manifest',
      format: 'probity-audit-export/1',
      tenant_id,
      public_key: by.public_key,
      key_id: by.key_id,
      earlier_keys: by.earlier_keys,
      first_seq: 1,
      last_seq: 20,
    }
    const links = stored.links.map((link, i) => {
      const { mac: _mac, txid: _txid, ...event } = stored.events[i] as EventRow
      return { line: 'link', ...link, event }
    })
    return [manifest, ...links, ...passed, { line: 'end', ...by.signCheckpoint(tenant_id, end, at) }].map((line) =>
      JSON.stringify(line),
    )
  }
  const check = (text: string[], key?: string) =>
    verifyExport(
      (async function* () {
        yield* text
      })(),
      key,
    )

  test('verifies, also with the key the examiner has', async () => {
    expect(await check(lines())).toMatchObject({ intact: true, events: 20, tenant_id })
    expect((await check(lines(), keys.public_key)).intact).toBe(true)
    const other = createAuditKeys(deriveIntegrityKeys(createKeyring(Buffer.alloc(32, 4))))
    expect((await check(lines(), other.public_key)).intact).toBe(false)
  })

  test('verifies after a rotation with the new key and with the one the examiner kept', async () => {
    const rotated = createAuditKeys(deriveIntegrityKeys(createKeyring([Buffer.alloc(32, 5), Buffer.alloc(32, 3)])))
    const early = { seq: 4, hash: (stored.links[3] as LinkRow).hash }
    const passed = [{ line: 'checkpoint', ...keys.signCheckpoint(tenant_id, early, at) }]
    const file = lines(rotated, passed)
    expect((await check(file)).intact).toBe(true)
    expect((await check(file, rotated.public_key)).intact).toBe(true)
    expect((await check(file, keys.public_key)).intact).toBe(true)
    // Who has the old key only cannot write for those who hold the new one.
    expect((await check(lines(keys, passed), rotated.public_key)).intact).toBe(false)
    // A value that was recorded under the old key is compared with it.
    const recorded = keys.fingerprint('a title')
    expect(rotated.fingerprint('a title')).not.toBe(recorded)
    expect(['a title', 'another'].map((text) => rotated.verifyFingerprint(text, recorded))).toEqual([true, false])
    const unnamed = file.map((line) => line.replace(/"succession":"[^"]{8}/, '"succession":"AAAAAAAA'))
    expect((await check(unnamed, keys.public_key)).intact).toBe(false)
    const altered = file.map((line) => (line.includes('"checkpoint"') ? line.replace('"seq":4', '"seq":5') : line))
    expect((await check(altered)).faults).toContainEqual(expect.objectContaining({ fault: 'checkpoint_altered' }))
  })

  test('is refused with a message when it is truncated, damaged or empty', async () => {
    await expect(check([])).rejects.toThrow('The file is empty.')
    await expect(check(lines().slice(0, -1))).rejects.toThrow('cut short')
    await expect(check([...lines().slice(0, 5), '{"line":', ...lines().slice(5)])).rejects.toThrow('Line 6 is not JSON')
    await expect(check(lines().slice(1))).rejects.toThrow('The first line must be the manifest')
    const doubled = lines().map((line, i) => (i === 5 ? line.replace('{', '{"seq":1,') : line))
    await expect(check(doubled)).rejects.toThrow(/Line 6 .* The name "seq" appears twice/)
  })

  test('names the position of missing, altered or exchanged lines', async () => {
    const without = lines().filter((_, i) => i !== 7)
    expect((await check(without)).faults).toContainEqual(expect.objectContaining({ fault: 'link_missing', seq: 7 }))
    const altered = lines().map((line, i) => (i === 4 ? line.replace('"actor":"user:', '"actor":"user:9') : line))
    expect((await check(altered)).faults).toContainEqual(expect.objectContaining({ fault: 'event_altered', seq: 4 }))
    const shorter = [...lines().slice(0, 16), ...lines().slice(-1)]
    expect((await check(shorter)).faults).toContainEqual(expect.objectContaining({ fault: 'chain_truncated', seq: 20 }))
  })
})
