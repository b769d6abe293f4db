/** Certificate and examiner's pack of a decision, verified offline by the command-line tool. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import yauzl from 'yauzl'
import { main } from '#app/main.ts'
import { issueCertificate } from '#decision/certificate.ts'
import { createAuditKeys } from '#kernel/audit/chain.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { deriveIntegrityKeys } from '#kernel/integrity/keys.ts'
import { chainAllEvents } from '#test/support/audit-chain.ts'
import { newPolicy, type Policy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { newPerson } from './fixtures.ts'

let w: TestApp
let t: ExampleTenant
let folder: string
let policy: Policy
let key: string

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-evaluation-'))
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  policy = await newPolicy(t)
  key = w.kernel.auditKeys.public_key
})
afterAll(async () => {
  fs.rmSync(folder, { recursive: true, force: true })
  await w.close()
})

const decided = async (more: object = {}) =>
  t.make('POST /evaluations', { body: { matrix_key: policy.matrix_key, inputs: { country: 'IR' }, ...more } })

let files = 0
function save(content: unknown): string {
  const file = path.join(folder, `${++files}.json`)
  fs.writeFileSync(file, Buffer.isBuffer(content) || typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
async function run(...words: string[]) {
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), note: (text: string) => void out.push(text) }
  return { code: await main(words, {}, terminal), out: out.join('\n') }
}
const verify = (certificate: unknown, ...words: string[]) =>
  run('verify', 'certificate', typeof certificate === 'string' ? certificate : save(certificate), ...words)

describe('a certificate', () => {
  test('verifies, shows the decision, and is the same every time', async () => {
    const made = await decided({ subject_id: await newPerson(t) })
    const at = `GET /evaluations/${made.evaluation_id}/certificate`
    const certificate = await t.make(at)
    expect(await t.make(at)).toEqual(certificate)
    const { code, out } = await verify(certificate, '--key', key)
    expect(out.split('\n')[0]).toBe(`Genuine: signed by key ${w.kernel.auditKeys.key_id}.`)
    expect(out).toContain(`matrix ${policy.matrix_key}, version 1: high, 5500 basis points`)
    expect(out).toContain(`Subject ${made.subject_id}`)
    // As reports print them.
    expect(out).toContain(`SHA-256 of the decision document ${made.document_hash}: `)
    expect(out).toContain(`SHA-256 of the receipt ${made.receipt.manifest_hash}: `)
    expect(out).toContain(`${policy.country_list} version 1`)
    expect(code).toBe(0)
    const alone = await verify(certificate)
    expect([alone.code, alone.out.split('\n')[0]]).toEqual([0, expect.stringContaining('taken from the file itself')])
    const report = JSON.parse((await verify(certificate, '--key', key, '--json')).out)
    expect(report).toMatchObject({ genuine: true, faults: [], document: { outcome: { band: 'high' } } })
  })

  test('is requested with an audit event', async () => {
    const { evaluation_id } = await decided()
    await t.make(`GET /evaluations/${evaluation_id}/certificate`)
    const { items } = await t.make(`GET /audit/objects/evaluations/${evaluation_id}`)
    expect(items.map(({ operation }: { operation: string }) => operation)).toEqual([
      'getCertificate',
      'createEvaluation',
    ])
  })

  test('does not verify when any part was altered', async () => {
    const { evaluation_id } = await decided()
    const certificate = await t.make(`GET /evaluations/${evaluation_id}/certificate`)
    const { document } = certificate
    const forged = createAuditKeys(deriveIntegrityKeys(createKeyring(Buffer.alloc(32, 9))))
    const alterations: Record<string, object> = {
      ...Object.fromEntries(
        ['tenant_id', 'evaluation_id', 'decided_at', 'decided_by', 'receipt_id', 'receipt_hash', 'document_hash'].map(
          (name) => [name, { [name]: `${certificate[name].slice(0, -1)}x` }],
        ),
      ),
      subject: { subject_id: evaluation_id },
      outcome: { document: { ...document, outcome: { ...document.outcome, band: 'low' } } },
      'one more member': { document: { ...document, note: 'approved' } },
      'another key': { public_key: forged.public_key, key_id: forged.key_id },
      signature: { signature: `${certificate.signature.startsWith('A') ? 'B' : 'A'}${certificate.signature.slice(1)}` },
      'no signature': { signature: '' },
    }
    for (const [name, change] of Object.entries(alterations)) {
      const { code, out } = await verify({ ...certificate, ...change })
      expect([name, code, out.split('\n')[0]]).toEqual([name, 1, 'NOT GENUINE: do not rely on what this file says.'])
    }
    expect((await verify(certificate, '--key', forged.public_key)).out).toContain('signed by another key than yours')
  })

  test('does not verify when it names a member twice, of which a person may read the first', async () => {
    const { evaluation_id } = await decided()
    const text = JSON.stringify(await t.make(`GET /evaluations/${evaluation_id}/certificate`))
    expect((await verify(save(text), '--key', key)).code).toBe(0)
    const doubled = { decided_by: text.replace('{', '{"decided_by":"user:evil",') }
    const within = { band: text.replace('"outcome":{', '"outcome":{"\\u0062and":"low",') }
    for (const [name, content] of Object.entries({ ...doubled, ...within })) {
      const { code, out } = await verify(save(content), '--key', key)
      expect([code, out]).toEqual([1, expect.stringContaining(`The name "${name}" appears twice`)])
    }
  })

  test('signed after a key rotation verifies with the old key, which signed its successor', async () => {
    const [old, young] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const keys = createAuditKeys(deriveIntegrityKeys(createKeyring([young, old])))
    const { evaluation_id } = await decided()
    const { signature: _, ...facts } = await t.make(`GET /evaluations/${evaluation_id}/certificate`)
    const { format: _f, key_id: _k, public_key: _p, earlier_keys: _e, ...rest } = facts
    const certificate = issueCertificate(keys, rest)
    const held = createAuditKeys(deriveIntegrityKeys(createKeyring(old))).public_key
    expect((await verify(certificate, '--key', held)).code).toBe(0)
    expect((await verify({ ...certificate, earlier_keys: [] }, '--key', held)).code).toBe(1)
    const careless = issueCertificate(keys, { ...rest, document_hash: 'f'.repeat(64) })
    expect((await verify(careless)).out).toContain('The document does not have the stated hash.')
  })

  test.each([
    ['not JSON', 'certificate', /is not JSON/],
    ['another document', { items: [] }, /is not a certificate: it is not a certificate of a decision/],
    [
      'one without a document',
      { format: 'probity-decision-certificate/1' },
      /is not a certificate: it has no tenant_id/,
    ],
  ])('%s is refused in one sentence', async (_name, content, sentence) => {
    const { code, out } = await verify(save(content))
    expect(code).toBe(1)
    expect(out).toMatch(sentence)
  })
})

function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error)
      const contents = new Map<string, Buffer>()
      zip.on('error', reject).on('end', () => resolve(contents))
      zip.on('entry', (entry: yauzl.Entry) =>
        zip.openReadStream(entry, (failure, stream) => {
          if (failure) return reject(failure)
          const pieces: Buffer[] = []
          stream.on('data', (piece: Buffer) => pieces.push(piece))
          stream.on('end', () => {
            contents.set(entry.fileName, Buffer.concat(pieces))
            zip.readEntry()
          })
        }),
      )
      zip.readEntry()
    })
  })
}

const getPack = async (tenant: ExampleTenant, evaluation_id: string) => {
  const reply = await w.call(`GET /evaluations/${evaluation_id}/pack`, { token: await tenant.token() })
  expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/zip'])
  return unzip(reply.bytes)
}
const json = (pack: Map<string, Buffer>, name: string) => JSON.parse((pack.get(name) as Buffer).toString())

describe("the examiner's pack", () => {
  test('contains what its manifest lists, and all of it verifies offline', async () => {
    const made = await decided({ subject_id: await newPerson(t) })
    await chainAllEvents(w, t)
    const pack = await getPack(t, made.evaluation_id)
    const { files: stated, document_hash } = json(pack, 'manifest.json')
    expect([...pack.keys()].filter((name) => name !== 'manifest.json')).toEqual(stated.map(({ name }: never) => name))
    for (const { name, size_bytes, sha256 } of stated) {
      const bytes = pack.get(name) as Buffer
      expect([name, bytes.length, hash('sha256', bytes, 'hex')]).toEqual([name, size_bytes, sha256])
    }
    const document = pack.get('document.json') as Buffer
    expect([hash('sha256', document, 'hex'), document_hash]).toEqual([made.document_hash, made.document_hash])
    const hashes = Object.fromEntries(
      JSON.parse(document.toString()).lists.map((list: never) => [list['list_key'], list['content_hash']]),
    )
    expect((await verify(save(pack.get('certificate.json')), '--key', key)).code).toBe(0)

    const proofs = [...pack.keys()].filter((name) => /^lists\/.*\/proof-\d+\.json$/.test(name))
    expect(proofs).toHaveLength(2)
    for (const name of proofs) {
      const list_key = name.split('/')[1] as string
      const words = ['verify', 'proof', save(pack.get(name)), '--hash', hashes[list_key] as string]
      expect([name, await run(...words)]).toEqual([name, { code: 0, out: expect.stringMatching(/^Proved: /) }])
    }
    const { content_hash } = JSON.parse(document.toString())
    const parts = [...pack.keys()].filter((name) => /^definition\/proof-\d+\.json$/.test(name))
    expect(parts.length).toBeGreaterThan(5)
    for (const name of parts) {
      const { code, out } = await run('verify', 'proof', save(pack.get(name)), '--hash', content_hash)
      expect([name, code, out]).toEqual([name, 0, expect.stringContaining(`which has ${parts.length} entries`)])
    }
    const [first] = proofs as [string]
    const lie = { ...json(pack, first), present: false, entry: null }
    expect((await run('verify', 'proof', save(lie))).code).toBe(1)

    const events = [...pack.keys()].filter((name) => /^audit\/event-\d+\.ndjson$/.test(name))
    expect(events).toHaveLength(1)
    const audit = save(pack.get(events[0] as string))
    expect((await run('verify', 'audit', audit, '--key', key)).out).toMatch(/^Intact: 1 events/)
    for (const said of [made.evaluation_id, made.document_hash]) expect(fs.readFileSync(audit, 'utf8')).toContain(said)
  })

  test('explains the decision as text and as a page without scripts', async () => {
    const made = await decided({ inputs: { country: 'IR', pep: true } })
    const pack = await getPack(t, made.evaluation_id)
    const [text, page] = ['explanation.txt', 'explanation.html'].map((name) => (pack.get(name) as Buffer).toString())
    for (const shown of [text, page]) {
      expect(shown).toContain(`Risk matrix ${policy.matrix_key}, version 1: high (5500 of 10000)`)
      expect(shown).toContain('Residence in IR is rated 9000.')
      expect(shown).toContain('The customer is politically exposed.')
      expect(shown).toContain(made.document_hash)
    }
    expect(page).not.toMatch(/<script|src=|href=/)
    expect(json(pack, 'definition.json').factors).toHaveLength(2)
  })

  test('shows the overlay that changed an entry, and the shared entry', async () => {
    const body = {
      entries: [{ key: 'DE', op: 'merge', value: { rating: 'high', score_bps: 9000 } }],
      reason: 'house view',
    }
    await t.make('PUT /reference-data/datasets/jurisdiction-risk/overlay', { body })
    const { matrix_key } = await newPolicy(t, 'jurisdiction-risk')
    const made = await t.make('POST /evaluations', { body: { matrix_key, inputs: { country: 'DE' } } })
    expect(made.score_bps).toBe(5500)
    const pack = await getPack(t, made.evaluation_id)
    const overlay = json(pack, 'lists/jurisdiction-risk/overlay.json')
    expect(overlay.changes).toMatchObject([{ key: 'DE', op: 'merge', value: { score_bps: 9000 } }])
    const proof = json(pack, 'lists/jurisdiction-risk/proof-1.json')
    expect([proof.key, proof.present]).toEqual(['DE', true])
    expect(proof.entry.score_bps).toBeLessThan(9000)
    const { lists } = json(pack, 'document.json')
    const { overlay_hash } = lists.find((list: never) => list['list_key'] === 'jurisdiction-risk')
    const said = json(pack, 'lists/jurisdiction-risk/overlay-proof-1.json')
    expect(said).toMatchObject({ key: 'DE', present: true, change: { op: 'merge', value: { score_bps: 9000 } } })
    const proved = (content: unknown) => run('verify', 'proof', save(content), '--hash', overlay_hash)
    expect(await proved(said)).toEqual({ code: 0, out: expect.stringContaining('of the overlay on jurisdiction-risk') })
    const { change } = said
    const lies = {
      'another value': { change: { ...change, value: { ...change.value, score_bps: 1 } } },
      'another operation': { change: { ...change, op: 'put' } },
      'another base': { change: { ...change, base_hash: null } },
      'one more member': { change: { ...change, note: 'x' } },
      'no change': { present: false, change: null },
      'another key': { key: 'FR' },
    }
    for (const [name, lie] of Object.entries(lies)) {
      expect([name, (await proved({ ...said, ...lie })).code]).toEqual([name, 1])
    }
  })

  test('proves that the overlay does not change an entry', async () => {
    const { matrix_key } = await newPolicy(t, 'jurisdiction-risk')
    const made = await t.make('POST /evaluations', { body: { matrix_key, inputs: { country: 'FR' } } })
    const pack = await getPack(t, made.evaluation_id)
    const said = json(pack, 'lists/jurisdiction-risk/overlay-proof-1.json')
    expect(said).toMatchObject({ key: 'FR', present: false, change: null })
    expect(await run('verify', 'proof', save(said))).toEqual({
      code: 0,
      out: expect.stringContaining('"FR" is NOT in version 1 of the overlay on jurisdiction-risk'),
    })
  })

  test('names who requested and who approved each version', async () => {
    const approver = await t.w.token({ tenant_id: t.tenant_id, roles: ['compliance_officer'] })
    const rules = [{ action: 'activation', approvers: 1, role: 'compliance_officer' }]
    await t.setApprovalRules(rules)
    const at = `/reference-data/datasets/${policy.country_list}`
    const { version } = await t.make(`POST ${at}/versions`, { body: { data: [{ code: 'IR', score_bps: 9000 }] } })
    const asked = await t.make(`POST ${at}/activations`, { body: { version, reason: 'yearly review' } })
    await w.call(`POST /change-requests/${asked.cr_id}/approve`, { token: approver, body: {} })
    await t.setApprovalRules([])
    const pack = await getPack(t, (await decided()).evaluation_id)
    const about = json(pack, 'approvals.json').find((one: never) => one['key'] === policy.country_list)
    expect(about).toMatchObject({ version, activations: [{ reason: 'yearly review', cr_id: asked.cr_id }] })
    expect(about.activations[0].change_request).toMatchObject({ created_by: t.caller, state: 'approved' })
    expect(about.activations[0].change_request.approvals).toHaveLength(1)
  })
})
