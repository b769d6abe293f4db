/** Texts that people typed about a subject outside its record: notes of orders, reasons, categories. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import { createCaseTeam } from '#test/support/case-team.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'

let w: JobTestApp
let team: Awaited<ReturnType<typeof createCaseTeam>>
type Someone = (typeof team)['officer']
const ledger: LedgerEntry[] = []

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger(ledger) })
  team = await createCaseTeam(w)
})
afterAll(() => w.close())

/** Succeeds, and returns the answer. */
async function make(who: Someone, line: string, body?: object) {
  const { status, json } = await team.send(who, line, body)
  expect([line, status < 300, json?.detail]).toEqual([line, true, json?.detail])
  return json
}
const newSubject = async (name: string): Promise<string> =>
  (await make(team.analyst, 'POST /subjects', { subject_type: 'person', name })).subject_id

interface Counts {
  readonly class: string
  readonly [count: string]: unknown
}
const find = (classes: readonly Counts[], name: string) => classes.find((one) => one.class === name)
const preview = async (subject_id: string, name: string) =>
  find((await make(team.officer, `POST /subjects/${subject_id}/erasure-preview`)).classes, name)

/** Runs the jobs that wait, and returns the certificate. */
async function erase(subject_id: string) {
  const { erasure_id } = await make(team.officer, `POST /subjects/${subject_id}/erase`, { reason: 'Request' })
  const { job_id } = await make(team.second, `POST /erasures/${erasure_id}/confirm`)
  const runner = w.startRunner()
  const ended = await w.ended(team.t.tenant_id, job_id)
  await runner.stop(1000)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: 'succeeded' })
  return make(team.officer, `GET /erasures/${erasure_id}/certificate`)
}

describe('orders of batches', () => {
  const name = 'Wanda Batchelor'
  const order = async (body: object): Promise<{ batch_id: string; job_id: string }> => {
    const { matrix_key } = await ensurePolicy(team.t)
    const { resource, job_id } = await make(team.analyst, 'POST /batch-evaluations', { matrix_key, ...body })
    return { batch_id: resource.split('/').at(-1), job_id }
  }
  const read = (batch_id: string) => make(team.analyst, `GET /batch-evaluations/${batch_id}`)
  async function orderFile(file_name: string, content: string) {
    const line = `POST /uploads?${new URLSearchParams({ file_name })}`
    const headers = { 'content-type': 'application/octet-stream' }
    const { json } = await w.call(line, { token: team.analyst.token, payload: Buffer.from(content), headers })
    return order({ upload_id: json.upload_id, note: 'From a file' })
  }
  /** After the test, or never. */
  const postpone = (job_id: string) =>
    team.t.write((tx) =>
      tx.run(`update app.job set run_at = now() + interval '1 hour' where tenant_id = $1 and job_id = $2`, [
        tx.tenant_id,
        job_id,
      ]),
    )

  test('lose the name in notes, filters and names of files, whatever their source and state', async () => {
    const subject_id = await newSubject(name)
    const inline = await order({ items: [{ inputs: { country: 'DE' } }], note: `Asked for by ${name}` })
    const filtered = await order({ filter: { segment: name } })
    const uploaded = await orderFile(`${name}.csv`, 'country\nDE\n')
    const failed = await orderFile(`Broken ${name}.csv`, 'country\n"DE\n')
    const runner = w.startRunner()
    for (const { job_id } of [inline, filtered, uploaded, failed]) await w.ended(team.t.tenant_id, job_id)
    await runner.stop(1000)
    const cancelled = await order({ filter: { subject_type: 'person' }, note: `All, ${name} too` })
    const stopped = await order({ filter: { segment: name }, note: 'Weekly' })
    for (const { batch_id } of [cancelled, stopped])
      await make(team.analyst, `POST /batch-evaluations/${batch_id}/cancel`)
    const waiting = await order({ filter: { segment: name } })
    await postpone(waiting.job_id)
    const other = await order({ filter: { segment: 'retail' }, note: 'Somebody else' })
    await postpone(other.job_id)
    const all = [inline, filtered, uploaded, failed, cancelled, stopped, waiting]
    const states = await Promise.all(all.map(async ({ batch_id }) => (await read(batch_id)).state))
    expect(states).toEqual(['succeeded', 'succeeded', 'succeeded', 'failed', 'cancelled', 'cancelled', 'queued'])

    expect(await preview(subject_id, 'batches')).toMatchObject({ by_id: 0, by_mark: 7, left_for_review: 0 })
    const untouched = await read(other.batch_id)
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'batches')).toMatchObject({ count: 7, left_for_review: 0 })
    const after = await Promise.all(all.map(({ batch_id }) => read(batch_id)))
    expect(JSON.stringify(after)).not.toContain(name)
    expect(after.map(({ note }) => note)).toEqual([
      ...['erased', null, 'From a file', 'From a file', 'erased', 'Weekly', null],
    ])
    expect(await read(other.batch_id)).toEqual(untouched)

    // Nobody goes on with a filter that finds others.
    const resumed = await team.send(team.analyst, `POST /batch-evaluations/${stopped.batch_id}/resume`)
    expect([resumed.status, resumed.json.detail]).toEqual([409, expect.stringContaining('erasure')])
    await make(team.analyst, `POST /batch-evaluations/${cancelled.batch_id}/resume`)
    await w.aborted(team.t.tenant_id, waiting.job_id)
    const runAgain = w.startRunner()
    const ended = await w.ended(team.t.tenant_id, waiting.job_id)
    await runAgain.stop(1000)
    expect(ended).toMatchObject({ state: 'failed', problem: { detail: expect.stringContaining('erasure') } })
  })

  test('that name nobody for sure are left for a person', async () => {
    const subject_id = await newSubject('Wednesday')
    const { batch_id } = await order({ items: [{ inputs: { country: 'DE' } }], note: 'Every Wednesday' })
    expect(await preview(subject_id, 'batches')).toMatchObject({ by_mark: 0, left_for_review: 1, review: [batch_id] })
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'batches')).toMatchObject({ count: 0, left_for_review: 1 })
    expect((await read(batch_id)).note).toBe('Every Wednesday')
  })

  test('are changed by nothing else', async () => {
    const { batch_id } = await order({ filter: { segment: 'retail' } })
    const change = team.t.write((tx) =>
      tx.run(`update app.batch_evaluation set source = '{"filter": {}}' where tenant_id = $1 and batch_id = $2`, [
        tx.tenant_id,
        batch_id,
      ]),
    )
    await expect(change).rejects.toMatchObject({ code: 'PB002' })
  })
})
