/** The erasure ledger in a file: durable, chained, and whole after an interrupted write. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { uuidv7 } from '../uuid.ts'
import { createFileLedger } from './file-ledger.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-ledger-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

let files = 0
const newFile = () => path.join(folder, `${++files}.ndjson`)
const signer = { key_id: 'key', sign: (hash: string) => `signed ${hash}` }
const newFacts = () => ({
  ...{ erasure_id: uuidv7(), tenant_id: uuidv7(), subject_id: uuidv7() },
  ...{ requested_by: 'user:a', confirmed_by: 'user:b', confirmed_at: '2026-03-02T09:30:00Z' },
})

test('appends each erasure once, also when several processes do it at once', async () => {
  const file = newFile()
  const facts = Array.from({ length: 8 }, newFacts)
  await Promise.all([...facts, ...facts].map((one) => createFileLedger(file).append(one, signer)))
  const entries = await createFileLedger(file).read()
  expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(new Set(entries.map(({ erasure_id }) => erasure_id))).toEqual(new Set(facts.map((one) => one.erasure_id)))
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
})

test('ignores a line that was being written, and replaces it', async () => {
  const file = newFile()
  const ledger = createFileLedger(file)
  expect(await ledger.readVersion()).toBeNull()
  await ledger.append(newFacts(), signer)
  fs.appendFileSync(file, '{"seq":2,"prev_ha')
  expect(await ledger.read()).toHaveLength(1)
  await ledger.append(newFacts(), signer)
  expect(await ledger.read()).toHaveLength(2)
})

test('counts a whole last line that lost its end, and continues on a new one', async () => {
  const file = newFile()
  const ledger = createFileLedger(file)
  const [first, second, third] = [newFacts(), newFacts(), newFacts()]
  for (const facts of [first, second]) await ledger.append(facts, signer)
  const whole = fs.readFileSync(file, 'utf8')
  const ids = async () => (await ledger.read()).map(({ erasure_id }) => erasure_id)
  fs.writeFileSync(file, whole.trimEnd())
  expect(await ids()).toEqual([first.erasure_id, second.erasure_id])
  expect(await ledger.append(second, signer)).toMatchObject({ seq: 2 })
  await ledger.append(third, signer)
  expect(await ids()).toEqual([first, second, third].map(({ erasure_id }) => erasure_id))
  expect(fs.readFileSync(file, 'utf8').startsWith(whole)).toBe(true)

  // Altered, it is no line that was being written.
  fs.writeFileSync(file, whole.trimEnd().replace(/user:b(?!.*user:b)/s, 'user:c'))
  await expect(ledger.read()).rejects.toMatchObject({ name: 'LedgerDamaged' })
  await expect(ledger.append(third, signer)).rejects.toMatchObject({ name: 'LedgerDamaged' })
})

test('notices an entry that was altered, removed or moved', async () => {
  const file = newFile()
  const ledger = createFileLedger(file)
  for (let n = 0; n < 3; n++) await ledger.append(newFacts(), signer)
  const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) as [string, string, string]
  const [first, second, third] = lines
  const altered = second.replace('user:b', 'user:c')
  for (const wrong of [
    [first, altered, third],
    [first, third],
    [second, first, third],
    [first, 'x', third],
  ]) {
    fs.writeFileSync(file, wrong.map((line) => `${line}\n`).join(''))
    await expect(ledger.read()).rejects.toMatchObject({ name: 'LedgerDamaged' })
  }
})
