/** What an erasure leaves alone: rows of other subjects, what is held, words that only look like the subject, and what is restricted. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyStatement } from '#kernel/audit/chain.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'

let w: JobTestApp
const ledger: LedgerEntry[] = []
let runner: JobRunner
type Someone = Awaited<ReturnType<JobTestApp['person']>>

/** A tenant with an analyst and two officers; restrictions of the first are hidden from the second. */
interface Bank {
  readonly tenant_id: string
  readonly analyst: Someone
  readonly officer: Someone
  readonly other: Someone
  readonly editor: Someone
}
let bank: Bank

async function makeBank(): Promise<Bank> {
  const tenant_id = await w.makeTenant()
  const [analyst, officer, other, editor] = await Promise.all([
    w.person(tenant_id, ['analyst']),
    w.person(tenant_id, ['compliance_officer']),
    w.person(tenant_id, ['compliance_officer']),
    w.person(tenant_id, ['tenant_admin', 'policy_editor']),
  ])
  return { tenant_id, analyst, officer, other, editor }
}

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger(ledger) })
  runner = w.startRunner(1)
  bank = await makeBank()
})
afterAll(async () => {
  await runner.stop(1000)
  await w.close()
})

/** Succeeds, and returns the answer. */
async function make(who: Someone, line: string, body?: object) {
  const { status, json } = await w.call(line, { token: who.token, ...(body && { body }) })
  expect([line, status < 300, json?.detail]).toEqual([line, true, json?.detail])
  return json
}
const write = <T>(body: (tx: Tx) => Promise<T>, at = bank) =>
  w.runtime.database.write(fullScope(at.tenant_id, 'operator:test'), body)
const releaseHold = (hold_id: string, at: typeof bank) =>
  w.runtime.database.write(fullScope(at.tenant_id, 'user:b'), (tx) =>
    tx.run(
      `update app.hold set state = 'released', released_at = now(), released_by = 'user:b', release_reason = 'Order lifted' where hold_id = $1`,
      [hold_id],
    ),
  )

const newSubject = async (name: string, external_id: string | null = null, at = bank): Promise<string> =>
  (await make(at.analyst, 'POST /subjects', { subject_type: 'person', name, ...(external_id && { external_id }) }))
    .subject_id

let reports = 0
const newAlert = async (title: string, subject_id: string | null, at = bank): Promise<string> =>
  (
    await make(at.analyst, 'POST /alerts', {
      ...{ source: 'desk', dedup_key: `key:${++reports}`, title, priority: 'high' },
      ...(subject_id && { subject_id }),
      facts: [{ name: 'sum', value: title }],
    })
  ).alert_id

async function upload(who: Someone, file_name: string, payload: string): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  const line = `POST /uploads?${new URLSearchParams({ file_name })}`
  return (await w.call(line, { token: who.token, payload: Buffer.from(payload), headers })).json.upload_id
}
const newDocument = async (who: Someone, title: string, more: object = {}): Promise<string> => {
  const upload_id = await upload(who, `${title}.txt`, 'bytes')
  return (await make(who, 'POST /documents', { upload_id, title, ...more })).document_id
}

interface ClassPreview {
  readonly class: string
  readonly [count: string]: unknown
}
const preview = async (subject_id: string, at = bank): Promise<Readonly<Record<string, ClassPreview>>> => {
  const { classes } = await make(at.officer, `POST /subjects/${subject_id}/erasure-preview`)
  return Object.fromEntries(classes.map((one: ClassPreview) => [one.class, one]))
}

async function erase(subject_id: string, at = bank, also?: readonly object[]): Promise<string> {
  const body = { reason: 'Request', ...(also && { also }) }
  const { erasure_id } = await make(at.officer, `POST /subjects/${subject_id}/erase`, body)
  const { job_id } = await make(at.other, `POST /erasures/${erasure_id}/confirm`)
  const ended = await w.ended(at.tenant_id, job_id)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: 'succeeded' })
  return erasure_id
}

describe('a namesake', () => {
  test('keeps alerts and comments, held or not, and what names both is left for a person', async () => {
    const name = 'Jonas Namesake'
    const [erased, namesake] = [await newSubject(name), await newSubject(name)]
    await make(bank.officer, 'POST /holds', { object_kind: 'subject', object_id: namesake, reason: 'Court order' })
    const kept = await newAlert(`Structuring by ${name}`, namesake)
    await make(bank.analyst, `POST /alerts/${kept}/comments`, { text: `${name} admitted it` })
    const gone = await newAlert(`Another of ${name}`, erased)
    await make(bank.analyst, `POST /alerts/${gone}/comments`, { text: `${name} called` })
    const open = await newAlert(`Whose: ${name}?`, null)
    const before = await make(bank.officer, `GET /alerts/${kept}`)
    const history = (alert_id: string) => make(bank.officer, `GET /alerts/${alert_id}/history`)
    expect((await preview(erased))['alerts']).toMatchObject({
      ...{ by_id: 2, by_mark: 0, left_for_review: 1, kept_by_hold: 0, outcome: 'erase' },
      review: [open],
    })
    const erasure_id = await erase(erased)
    expect(await make(bank.officer, `GET /alerts/${kept}`)).toEqual(before)
    expect(JSON.stringify(await history(kept))).toContain('admitted it')
    expect((await make(bank.officer, `GET /alerts/${open}`)).title).toContain(name)
    expect(await make(bank.officer, `GET /alerts/${gone}`)).toMatchObject({ title: 'erased', is_erased: true })
    expect((await make(bank.officer, `GET /alerts/${kept}`)).is_erased).toBe(false)
    const dismissed = await make(bank.analyst, `POST /alerts/${gone}/dismiss`, { reason_code: 'ALR_FALSE_MATCH' })
    expect(dismissed).toMatchObject({ is_erased: true, dismissal: { reason_code: 'ALR_FALSE_MATCH' } })
    const certificate = await make(bank.officer, `GET /erasures/${erasure_id}/certificate`)
    const total = [certificate, ...certificate.annexes].flatMap(({ erased: classes }) => classes)
    const alerts = total.filter((one: { class: string }) => one.class === 'alerts')
    expect(alerts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(2)
    expect(alerts.reduce((sum: number, one: { left_for_review: number }) => sum + one.left_for_review, 0)).toBe(1)
  })

  test('does not keep what the request names', async () => {
    const name = 'Berta Namesake'
    const [erased] = [await newSubject(name), await newSubject(name)]
    const [named, left] = [await newAlert(`First of ${name}`, null), await newAlert(`Second of ${name}`, null)]
    const foreign = { class: 'alerts', id: await newAlert('Something else', null) }
    const refused = await w.call(`POST /subjects/${erased}/erase`, {
      token: bank.officer.token,
      body: { reason: 'Request', also: [foreign] },
    })
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
    await erase(erased, bank, [{ class: 'alerts', id: named }])
    expect((await make(bank.officer, `GET /alerts/${named}`)).title).toBe('erased')
    expect((await make(bank.officer, `GET /alerts/${left}`)).title).toContain(name)
  })

  test('is protected by the database, whatever a module asks for', async () => {
    const [erased, another, held] = [
      await newSubject('Ida Ernst'),
      await newSubject('Udo Ernst'),
      await newSubject('Eva Ernst'),
    ]
    const [foreign, kept] = [await newAlert('Foreign', another), await newAlert('Held', held)]
    const document_id = await newDocument(bank.analyst, 'Held file')
    for (const [object_kind, object_id] of [
      ['subject', held],
      ['document', document_id],
    ])
      await make(bank.officer, 'POST /holds', { object_kind, object_id, reason: 'Court order' })
    const { erasure_id } = await make(bank.officer, `POST /subjects/${erased}/erase`, { reason: 'Request' })
    await write((tx) =>
      tx.run(
        `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = 'user:b', decision = '{}' where erasure_id = $1`,
        [erasure_id],
      ),
    )
    const overwrite = (text: string, id: string) =>
      write(async (tx) => {
        await tx.run(
          `insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, 'probe', $3)`,
          [tx.tenant_id, erasure_id, erased],
        )
        await tx.run(`select set_config('app.erasing', $1, true)`, [erasure_id])
        await tx.run(text, [id])
      })
    const alert = `update app.alert set title = 'erased' where alert_id = $1`
    await expect(overwrite(alert, foreign)).rejects.toMatchObject({ code: 'PB002' })
    await expect(overwrite(alert, kept)).rejects.toThrow()
    const title = `update app.document set title = 'erased' where document_id = $1`
    await expect(overwrite(title, document_id)).rejects.toMatchObject({ code: 'legal_hold' })
  })
})

describe('words that look like the subject', () => {
  test('names are found however they are written', async () => {
    const spellings = [
      ['José Núñez', 'Jose\u0301 NUN\u0303EZ'],
      ['İsmail Yıldız', 'ISMAIL YILDIZ'],
      ['Jürgen Mößler', 'JÜRGEN MÖSSLER'],
      ['Γεώργιος Παππάς', 'ΓΕΩΡΓΙΟΣ ΠΑΠΠΑΣ'],
      ['Taro Yamada', 'Ｔａｒｏ　Ｙａｍａｄａ'],
      ['محمد العلي', 'مُحَمَّد العلـي'],
      ['Seán O’Brien', "SEAN O'BRIEN"],
      ['Anna Weißfisch', 'ANNA WEIẞ\u00adFISCH'],
    ] as const
    const found = await write((tx) =>
      tx.query<{ name: string; found: boolean; other: boolean }>(
        `select n.name, app.mentions('About ' || n.text || ', twice', array[app.fold_text(n.name)], false) as found,
                app.mentions('About x' || n.text || 'x', array[app.fold_text(n.name)], false) as other
           from unnest($1::text[], $2::text[]) as n (name, text)`,
        [spellings.map(([name]) => name), spellings.map(([, text]) => text)],
      ),
    )
    expect(found).toEqual(spellings.map(([name]) => ({ name, found: true, other: false })))
    const [name, text] = spellings[1]
    const subject_id = await newSubject(name)
    const alert_id = await newAlert(`About ${text}`, null)
    await erase(subject_id)
    expect((await make(bank.officer, `GET /alerts/${alert_id}`)).title).toBe('erased')
  })

  test('are found in long texts, also where they begin longer words or overlap', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => `CU-${1_000_000 + n},CH,true`).join('\n')
    const texts: [text: string, mark: string, found: boolean][] = [
      [rows, 'cu-1000', false],
      [`${rows}\nCU-1000,CH,true`, 'cu-1000', true],
      ['xa b a b a', 'a b a', true],
      ['xa b a b ax', 'a b a', false],
      ['ananas anna', 'ana', false],
      ['anana ana', 'ana', true],
    ]
    const { found } = (await write((tx) =>
      tx.find<{ found: boolean[] }>(
        `select array_agg(app.mentions(t.content, array[t.mark], false) order by n) as found
           from unnest($1::text[], $2::text[]) with ordinality as t (content, mark, n)`,
        [texts.map(([text]) => text), texts.map(([, mark]) => mark)],
      ),
    )) as { found: boolean[] }
    expect(found).toEqual(texts.map(([, , expected]) => expected))
  })

  test('short numbers, common words, times and ids erase nothing', async () => {
    const ids = ['1000', '2026']
    for (const external_id of ids) {
      const subject_id = await newSubject('risk', external_id)
      const alert_id = await newAlert(`Sum of ${external_id} at risk`, null)
      for (const [name, one] of Object.entries(await preview(subject_id)))
        if (name !== 'subject' && name !== 'copies') expect([name, one['by_mark']]).toEqual([name, 0])
      await erase(subject_id)
      expect((await make(bank.officer, `GET /alerts/${alert_id}`)).title).toContain(external_id)
    }
  })
})

describe('what is restricted', () => {
  test('is counted in annexes only: without access a certificate is that of a tenant without it', async () => {
    const twin = await makeBank()
    const name = 'Zoe Restricted'
    const certificateOf = async (at: Bank, hidden: boolean) => {
      const subject_id = await newSubject(name, null, at)
      await newDocument(at.officer, `File of ${name}`, { subject_id })
      if (hidden) {
        const { restriction_id } = await make(at.officer, 'POST /restrictions', {
          purpose: `Suspicion about ${name}`,
          is_in_force: true,
        })
        for (const title of ['One', 'Two'])
          await newDocument(at.officer, `${title} ${name}`, { subject_id, restriction_id })
      }
      const erasure_id = await erase(subject_id, at)
      const [seen, full] = [
        await make(at.other, `GET /erasures/${erasure_id}/certificate`),
        await make(at.officer, `GET /erasures/${erasure_id}/certificate`),
      ]
      return { seen, full }
    }
    const here = await certificateOf(await makeBank(), true)
    const there = await certificateOf(twin, false)
    expect(here.seen.erased).toEqual(there.seen.erased)
    const countsOf = ({ annexes }: { annexes: { erased: object[] }[] }) => annexes.map((annex) => annex.erased)
    expect(countsOf(here.seen)).toEqual(countsOf(there.seen))
    expect(countsOf(here.full)).toHaveLength(countsOf(here.seen).length + 1)
    const annex = here.full.annexes.find((one: { erased: object[] }) => one.erased.length > 1)
    expect(annex.erased).toEqual([
      { class: 'documents', count: 2, left_for_review: 0, kept_by_hold: 0 },
      { class: 'restrictions', count: 1, left_for_review: 0, kept_by_hold: 0 },
    ])
    const { signature, ...content } = annex
    const { public_key } = w.kernel.auditKeys
    expect(verifyStatement('erasure-annex', canonicalJson(content), signature, public_key)).toBe(true)
    const { signature: signed, annexes: _, ...own } = here.full
    expect(verifyStatement('erasure-certificate', canonicalJson(own), signed, public_key)).toBe(true)
  })
})

describe('a row that the request names', () => {
  test('is shown with the erasure to those who may see the row', async () => {
    const at = await makeBank()
    const name = 'Karl Namesake'
    const [subject_id] = [await newSubject(name, null, at), await newSubject(name, null, at)]
    const [open, hidden] = [await newAlert(`First of ${name}`, null, at), await newAlert(`Second of ${name}`, null, at)]
    const also = [
      { class: 'alerts', id: open },
      { class: 'alerts', id: hidden },
    ]
    const { erasure_id } = await make(at.officer, `POST /subjects/${subject_id}/erase`, { reason: 'Request', also })
    const shownTo = async (who: Someone) => {
      const one = await make(who, `GET /erasures/${erasure_id}`)
      const [listed] = (await make(who, `GET /erasures?subject_id=${subject_id}`)).items
      expect(listed).toEqual(one)
      return one.also
    }
    expect(await shownTo(at.other)).toEqual(also)
    const { restriction_id } = (await write(
      (tx) => tx.find('select restriction_id from app.alert where alert_id = $1', [hidden]),
      at,
    )) as { restriction_id: string }
    await make(at.officer, `POST /restrictions/${restriction_id}/impose`)
    expect(await shownTo(at.officer)).toEqual(also)
    expect(await shownTo(at.other)).toEqual(also.slice(0, 1))
    const { job_id } = await make(at.other, `POST /erasures/${erasure_id}/confirm`)
    expect(await w.ended(at.tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
    // The erasure and its ledger have both.
    expect(ledger.find((entry) => entry.erasure_id === erasure_id)?.also).toEqual(also)
    expect((await make(at.officer, `GET /alerts/${hidden}`)).title).toBe('erased')
    expect(await shownTo(at.officer)).toEqual(also)
    expect(await shownTo(at.other)).toEqual(also.slice(0, 1))
  })

  test('is not in the answer to a repeated request of whoever lost sight of it', async () => {
    const at = await makeBank()
    const name = 'Nora Namesake'
    const [subject_id] = [await newSubject(name, null, at), await newSubject(name, null, at)]
    const alert_id = await newAlert(`Whose: ${name}?`, null, at)
    const body = { reason: 'Request', also: [{ class: 'alerts', id: alert_id }] }
    const headers = { 'idempotency-key': 'erase' }
    const request = () => w.call(`POST /subjects/${subject_id}/erase`, { token: at.other.token, body, headers })
    const made = await request()
    expect([made.status, made.json.also]).toEqual([201, body.also])
    const { restriction_id } = (await write(
      (tx) => tx.find('select restriction_id from app.alert where alert_id = $1', [alert_id]),
      at,
    )) as { restriction_id: string }
    await make(at.officer, `POST /restrictions/${restriction_id}/impose`)
    const repeated = await request()
    expect([repeated.status, repeated.text.includes(alert_id)]).toEqual([404, false])
  })

  test('is not returned to somebody else who withdraws the erasure', async () => {
    const at = await makeBank()
    const name = 'Lena Namesake'
    const [subject_id] = [await newSubject(name, null, at), await newSubject(name, null, at)]
    const alert_id = await newAlert(`Whose: ${name}?`, null, at)
    const also = [{ class: 'alerts', id: alert_id }]
    const { erasure_id } = await make(at.officer, `POST /subjects/${subject_id}/erase`, { reason: 'Request', also })
    const { restriction_id } = (await write(
      (tx) => tx.find('select restriction_id from app.alert where alert_id = $1', [alert_id]),
      at,
    )) as { restriction_id: string }
    await make(at.officer, `POST /restrictions/${restriction_id}/impose`)
    expect(await make(at.other, `POST /erasures/${erasure_id}/withdraw`)).toMatchObject({
      state: 'withdrawn',
      also: [],
    })
  })
})

describe('what nobody who decides can see', () => {
  test('keeps the subject in the words of a hold, until one of the two has access', async () => {
    const at = await makeBank()
    const name = 'Yara Hidden'
    const subject_id = await newSubject(name, null, at)
    const restrict = async (purpose: string): Promise<string> =>
      (await make(at.officer, 'POST /restrictions', { purpose, is_in_force: true })).restriction_id
    const open = await newSubject('Olaf Plain', null, at)
    const requestOf = async (id: string) =>
      (await make(at.other, `POST /subjects/${id}/erase`, { reason: 'Request' })).erasure_id
    const confirm = (who: Someone, erasure_id: string) =>
      w.call(`POST /erasures/${erasure_id}/confirm`, { token: who.token })
    const restriction_id = await restrict('Case 9')
    const document_id = await newDocument(at.officer, 'Statement', { subject_id, restriction_id })
    const erasure_id = await requestOf(subject_id)
    const refused = await confirm(at.editor, erasure_id)
    await make(at.officer, 'POST /holds', { object_kind: 'subject', object_id: open, reason: 'Order', restriction_id })
    await write(
      (tx) =>
        tx.run(
          `insert into app.erasure (tenant_id, erasure_id, subject_id, reason, requested_by) values ($1, $2, $3, 'x', $4)`,
          [...[tx.tenant_id, restriction_id, open, at.other.principal]],
        ),
      at,
    )
    const held = await confirm(at.editor, restriction_id)
    const { instance: _, request_id: __, ...problem } = refused.json
    expect(problem).toMatchObject({ status: 409, code: 'legal_hold' })
    expect(held.json).toMatchObject(problem)
    // The database refuses it whatever a handler does.
    await expect(
      write(
        (tx) =>
          tx.run(
            `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = 'user:b', decision = '{}' where erasure_id = $1`,
            [erasure_id],
          ),
        at,
      ),
    ).rejects.toMatchObject({ code: 'legal_hold' })
    const { job_id } = (await confirm(at.officer, erasure_id)).json
    expect(await w.ended(at.tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
    expect((await w.call(`GET /documents/${document_id}`, { token: at.officer.token })).json.state).toBe('erased')
    const custody = await make(at.officer, `GET /documents/${document_id}/custody`)
    expect(custody.items.map(({ act }: { act: string }) => act)).toContain('erased')
  })

  test('keeps rows that only mention the subject, and counts them for those with access; purposes are overwritten', async () => {
    const at = await makeBank()
    const name = 'Wim Mentioned'
    const subject_id = await newSubject(name, null, at)
    const purpose = `Suspicion about ${name}`
    const { restriction_id } = await make(at.officer, 'POST /restrictions', { purpose, is_in_force: true })
    const title = `Minutes about ${name}`
    const document_id = await newDocument(at.officer, title, { restriction_id })
    const { erasure_id } = await make(at.other, `POST /subjects/${subject_id}/erase`, { reason: 'Request' })
    const { job_id } = await make(at.editor, `POST /erasures/${erasure_id}/confirm`)
    expect(await w.ended(at.tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
    expect((await make(at.officer, `GET /documents/${document_id}`)).title).toBe(title)
    expect((await make(at.officer, `GET /restrictions/${restriction_id}`)).purpose).toBe('erased')
    const { annexes } = await make(at.officer, `GET /erasures/${erasure_id}/certificate`)
    expect(annexes.map((one: { erased: object[] }) => one.erased)).toEqual([
      [
        { class: 'documents', count: 0, left_for_review: 0, kept_by_hold: 1 },
        { class: 'restrictions', count: 1, left_for_review: 0, kept_by_hold: 0 },
      ],
    ])
    expect((await make(at.other, `GET /erasures/${erasure_id}/certificate`)).annexes).toEqual([])
  })
})

describe('what is held, and what is investigated', () => {
  /** Requested by the officer, who sees everything. */
  const insertRequested = (at: Bank, subject_id: string) =>
    write(async (tx) => {
      const erasure_id = uuidv7()
      await tx.run(
        `insert into app.erasure (tenant_id, erasure_id, subject_id, reason, requested_by) values ($1, $2, $3, 'x', $4)`,
        [tx.tenant_id, erasure_id, subject_id, at.officer.principal],
      )
      return erasure_id
    }, at)
  const updateExecuting = (at: Bank, erasure_id: string) =>
    write(
      (tx) =>
        tx.run(
          `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = 'user:b', decision = '{}' where erasure_id = $1`,
          [erasure_id],
        ),
      at,
    )
  /** Past the triggers that would refuse it. */
  async function alter(text: string, values: readonly unknown[]): Promise<void> {
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    await superuser.query('set session_replication_role = replica')
    await superuser.query(text, [...values])
    await superuser.end()
  }
  const answersOf = async (who: Someone, subject_id: string) => {
    const seen = await make(who, `POST /subjects/${subject_id}/erasure-preview`)
    const refused = await w.call(`POST /subjects/${subject_id}/erase`, {
      token: who.token,
      body: { reason: 'Request' },
    })
    return [seen.can_erase, refused.status, refused.json.code]
  }

  test('a hold that the caller may not see, on something of the subject, refuses everybody before anything is changed', async () => {
    const at = await makeBank()
    const subject_id = await newSubject('Hanna Heldt', null, at)
    const alert_id = await newAlert('Unusual payments', subject_id, at)
    const body = { purpose: 'Case 11', is_in_force: true }
    const { restriction_id } = await make(at.officer, 'POST /restrictions', body)
    const object_id = await newDocument(at.officer, 'Statement', { subject_id, restriction_id })
    const hold = { object_kind: 'document', object_id, reason: 'Court order' }
    const { hold_id } = await make(at.officer, 'POST /holds', hold)
    for (const who of [at.officer, at.other, at.editor])
      expect(await answersOf(who, subject_id)).toEqual([false, 409, 'legal_hold'])
    const hidden = await make(at.other, `POST /subjects/${subject_id}/erasure-preview`)
    expect(new Set(hidden.classes.map((one: ClassPreview) => one['rule']))).toEqual(new Set(['hold']))
    const erasure_id = await insertRequested(at, subject_id)
    await expect(updateExecuting(at, erasure_id)).rejects.toMatchObject({ code: 'legal_hold' })

    // Confirmed all the same: it returns to a state in which it can be withdrawn, and nothing is changed.
    const force = () =>
      alter(
        `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = $2, decision = '{}' where erasure_id = $1`,
        [erasure_id, at.other.principal],
      )
    await force()
    const job_id = await w.enqueue(at.tenant_id, 'subject-erasure', { erasure_id })
    expect(await w.ended(at.tenant_id, job_id)).toMatchObject({ state: 'failed', problem: { code: 'legal_hold' } })
    expect(await make(at.officer, `GET /erasures/${erasure_id}`)).toMatchObject({ state: 'requested', job_id: null })
    expect(ledger.some((entry) => entry.erasure_id === erasure_id)).toBe(false)
    expect((await make(at.officer, `GET /alerts/${alert_id}`)).title).toBe('Unusual payments')

    // One that has begun waits, and goes on when the hold is released.
    await force()
    const { requested_by, confirmed_by, confirmed_at } = await make(at.officer, `GET /erasures/${erasure_id}`)
    const { key_id, signStatement } = w.kernel.auditKeys
    await createMemoryLedger(ledger).append(
      { erasure_id, tenant_id: at.tenant_id, subject_id, requested_by, confirmed_by, confirmed_at },
      { key_id, sign: (hash) => signStatement('erasure-ledger', hash) },
    )
    const waiting = await w.enqueue(at.tenant_id, 'subject-erasure', { erasure_id })
    await expect
      .poll(() => w.look(at.tenant_id, waiting))
      .toMatchObject({ state: 'queued', problem: { code: 'legal_hold' } })
    await releaseHold(hold_id, at)
    await alter('update app.job set run_at = now() where job_id = $1', [waiting])
    expect(await w.ended(at.tenant_id, waiting)).toMatchObject({ state: 'succeeded' })
    expect((await make(at.officer, `GET /alerts/${alert_id}`)).title).toBe('erased')
  })

  test('a hold on a case or a report that the caller may not see keeps its subject too', async () => {
    const at = await makeBank()
    const subject_id = await newSubject('Rosa Restricted', null, at)
    const hidden = { subject_id, playbook_key: 'edd-person', is_restricted: true }
    const { investigation_id } = await make(at.officer, 'POST /investigations', hidden)
    const { restriction_id } = await make(at.officer, `GET /investigations/${investigation_id}`)
    const request = { template: 'subject-dossier', parameters: { subject_id }, formats: ['json'], restriction_id }
    const { resource } = await make(at.officer, 'POST /reports', request)
    const report_id = resource.split('/').at(-1)
    // The open case is hidden: only the confirmation is refused for it.
    for (const [object_kind, object_id] of [
      ['investigation', investigation_id],
      ['report', report_id],
    ]) {
      const { hold_id } = await make(at.officer, 'POST /holds', { object_kind, object_id, reason: 'Court order' })
      expect([object_kind, await answersOf(at.other, subject_id)]).toEqual([object_kind, [false, 409, 'legal_hold']])
      await releaseHold(hold_id, at)
    }
    expect((await answersOf(at.other, subject_id))[1]).toBe(201)
  })

  test('nothing of a subject is held after the confirmation', async () => {
    const subject_id = await newSubject('Late Holder')
    const object_id = await newDocument(bank.officer, 'Letter', { subject_id })
    await updateExecuting(bank, await insertRequested(bank, subject_id))
    const hold = { object_kind: 'document', object_id, reason: 'Court order' }
    const late = await w.call('POST /holds', { token: bank.officer.token, body: hold })
    expect([late.status, late.json.code]).toEqual([410, 'erased'])
  })

  test('an investigation that is not ended keeps its subject', async () => {
    const subject_id = await newSubject('Ines Investigated')
    await make(bank.officer, 'POST /investigations', { subject_id, playbook_key: 'edd-person' })
    expect(await answersOf(bank.other, subject_id)).toEqual([false, 409, 'open_case'])
    expect(await preview(subject_id)).toMatchObject({
      ...{ investigations: { outcome: 'keep', rule: 'open_case' }, alerts: { outcome: 'erase' } },
    })
    const erasure_id = await insertRequested(bank, subject_id)
    await expect(updateExecuting(bank, erasure_id)).rejects.toMatchObject({ code: 'legal_hold' })
    await make(bank.officer, 'POST /holds', { object_kind: 'subject', object_id: subject_id, reason: 'Court order' })
    expect(await answersOf(bank.other, subject_id)).toEqual([false, 409, 'legal_hold'])
  })
})

test('a ledger that lost everything makes the process not ready', async () => {
  await erase(await newSubject('Lost Ledger'))
  const check = async () => (await w.kernel.readiness()).checks['erasures']
  await expect.poll(check).toMatchObject({ status: 'ok' })
  ledger.length = 0
  await expect
    .poll(check)
    .toMatchObject({ status: 'failed', detail: expect.stringContaining('PROBITY_ERASURE_LEDGER') })
})
