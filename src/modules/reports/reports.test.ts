/** What reports promise: one snapshot, the same bytes each time, nothing restricted for people without access, and nothing after an erasure. */
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createPrinting, type PrintingSettings } from '#kernel/typesetting/printing.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { newUpload } from '#modules/documents/fixtures.ts'
import { settle as settleCase } from '#modules/investigations/fixtures.ts'
import { projectRoot } from '#test/support/database.ts'
import { ensurePolicy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { readPdf } from '#test/support/pdf-text.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { threadsDir } from '#test/support/threads.ts'
import { reportErasure } from './erase-reports.ts'
import { findStoredReport, type ReportRow, type StoredReport } from './queries.ts'
import { toCell } from './render/csv-text.ts'
import { toPrinted } from './render/printable-text.ts'
import { getFile } from './report-access.ts'
import { readSnapshot } from './report-content.ts'
import { scheduleErasure } from './schedules/queries.ts'
import { runIfDue } from './schedules/schedules.ts'
import { compareInstallation, listAltered } from './verify-report.ts'

let w: TestApp
let superuser: pg.Client
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  t = await ExampleTenant.create(w)
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const names = ['محمد العلي', 'Анна Петрова', 'Łukasz Żółć', 'שרה כהן', 'علاء ليلى']
/** Letters that fonts draw as one glyph or as several; wider than a page; without a glyph. */
const hardNames = ['صلاح علاء الدين', 'عبد السلام الإسلام', 'ئۆجەلان', 'Ṣọ́lá Ẹ̀bùn', 'Jū́ratė̃ Ąž́uolas', 'Nnā̀mdị́']
const longName = `${'Wabcdefghijklmnopqrstuvwx'.repeat(79)}0123456789END OF THE NAME`

const newSubject = async (name: string, attributes: object = { country: 'IR' }): Promise<string> =>
  (await t.make('POST /subjects', { body: { subject_type: 'person', name, attributes } })).subject_id

/** Made to the end; its row. */
async function make(request: object) {
  const job = await t.make('POST /reports', { body: request })
  const end = await t.runToEnd(job)
  expect(job.resource).toMatch(/^\/api\/reports\//)
  const report = await t.make(`GET ${job.resource.replace('/api', '')}`)
  return { job: end, report, report_id: report.report_id as string }
}

const readContent = async (report_id: string, format: string, token?: string) =>
  w.call(`GET /reports/${report_id}/content?format=${format}`, { token: token ?? (await t.token()) })

const inTenant = <T>(body: (tx: Tx) => Promise<T>) =>
  w.kernel.transactions.write(fullScope(t.tenant_id, 'operator:test'), body)

/** Changes rows without the triggers that keep them. */
async function alter(text: string, values: readonly unknown[]): Promise<void> {
  await superuser.query('set session_replication_role = replica')
  await superuser.query(text, [...values])
  await superuser.query('set session_replication_role = default')
}

const request = (subject_id: string) => ({ template: 'subject-dossier', parameters: { subject_id } })

describe('a subject dossier', () => {
  let subject_id: string
  let report_id: string
  let reference: string
  let pdf: Buffer

  beforeAll(async () => {
    subject_id = await newSubject(names[0] as string, { country: 'IR', also_known_as: names.slice(1) })
    const { matrix_key } = await ensurePolicy(t)
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
    const body = { title: '=HYPERLINK("http://x")', upload_id: await newUpload(t, 'a.txt', 'A statement'), subject_id }
    await t.make('POST /documents', { body })
    const facts = [{ name: 'entry', value: '4711' }]
    const alert = {
      source: 'payment-monitor',
      dedup_key: 'a',
      title: 'Resembles a listed party',
      priority: 'high',
      facts,
    }
    await t.make('POST /alerts', { body: { ...alert, subject_id } })
    const opened = await t.make('POST /investigations', { body: { subject_id, playbook_key: 'edd-person' } })
    reference = opened.reference
    const made = await make({ template: 'subject-dossier', parameters: { subject_id } })
    report_id = made.report_id
    expect([made.job['state'], made.report.state]).toEqual(['succeeded', 'ready'])
    expect(made.report.files.map(({ format }: { format: string }) => format)).toEqual(['csv', 'html', 'json', 'pdf'])
    pdf = (await readContent(report_id, 'pdf')).bytes
  })

  test('is a tagged PDF/A-2a file whose text is the stored text, with the header row on every page', async () => {
    const { pages, roles, metadata } = await readPdf(pdf)
    const text = pages.join('\n')
    for (const name of names) expect(text).toContain(name)
    expect(metadata).toMatch(/<pdfaid:part>2<\/pdfaid:part><pdfaid:conformance>A<\/pdfaid:conformance>/)
    expect(metadata).toMatch(/\/MarkInfo <<\s+\/Marked true/)
    expect([...roles]).toEqual(expect.arrayContaining(['Document', 'H1', 'H2', 'Table', 'TH', 'TD', 'Figure']))
    expect(text).toContain('Resembles a listed party')
    expect(text).toContain(reference)
    expect(text).not.toContain('code points')
    expect(text).toContain(report_id)
  })

  test('is stored encrypted, and given out with a record of it and a policy that runs nothing', async () => {
    const { rows } = await superuser.query('select part, content from app.report_part where report_id = $1', [
      report_id,
    ])
    expect(rows).toHaveLength(5)
    for (const { content } of rows) expect(content.includes(Buffer.from('listed party'))).toBe(false)
    const html = await readContent(report_id, 'html')
    expect(html.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(html.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
    expect(html.headers['content-disposition']).toBe(`attachment; filename="subject-dossier-${report_id}.html"`)
    expect(html.text).not.toMatch(/<script|javascript:|onload/i)
    const { items } = (await w.call(`GET /audit/objects/reports/${report_id}`, { token: await t.token() })).json
    expect(items.map(({ operation }: { operation: string }) => operation)).toContain('getReportContent')
  })

  test('has its request in the audit record under its own id, not that of the job', async () => {
    const { items } = await t.make(`GET /audit/objects/reports/${report_id}`, { token: await t.token(['auditor']) })
    const requests = items.filter(({ operation }: { operation: string }) => operation === 'createReport')
    expect(requests).toHaveLength(1)
  })

  test('keeps spreadsheets from running what people typed', async () => {
    const csv = (await readContent(report_id, 'csv')).text
    expect(csv).toContain(`"'=HYPERLINK(""http://x"")"`)
    expect(csv).not.toMatch(/(^|,)"?=HYPER/m)
    // Some spreadsheets end a cell at a semicolon or a tab, and read signs after a line break or in full width.
    expect(['a;=1+1', 'a\t=1', '\n=1+1', '＝1+1', '＋1', '－1', '＠x', 'plain', '1,5'].map(toCell)).toEqual([
      ...['"a;=1+1"', '"a\t=1"', `"'\n=1+1"`, `"'＝1+1"`, `"'＋1"`, `"'－1"`, `"'＠x"`, 'plain', '"1,5"'],
    ])
  })

  test('states what it was made with, and is identical when it is made again', async () => {
    const manifest = await t.make(`GET /reports/${report_id}/manifest`)
    expect(manifest).toMatchObject({
      template: { key: 'subject-dossier', version: 7 },
      engine: { name: 'typst-ts-node-compiler', version: '0.7.0' },
      parameters: { subject_id },
    })
    expect(manifest.fonts).toHaveLength(6)
    expect(manifest.receipts).toHaveLength(1)
    expect(manifest.list_versions).toHaveLength(2)
    const { result } = (await t.runToEnd(await t.make(`POST /reports/${report_id}/verify`))) as {
      result: { files: object[] }
    }
    // A report of an earlier renderer has the hash of the layout where the hash of the template is now.
    const { layout_sha256, ...others } = manifest
    const earlier = { ...others, renderer: 3, template: { ...manifest.template, sha256: layout_sha256 } }
    expect(await compareInstallation(w.kernel.printing, 'html', earlier)).toEqual(['engine'])
    expect(manifest.template.sha256).not.toBe(layout_sha256)
    expect(result).toMatchObject({ is_identical: true })
    expect(result.files.map((file) => (file as { differs: string[] }).differs)).toEqual([[], [], [], []])
    expect(await t.make(`GET /reports/${report_id}`)).toMatchObject({ is_identical: true })
  })

  test('is found to differ where stored bytes were altered, with an alarm', async () => {
    const { rows } = await superuser.query('select * from app.report where report_id = $1', [report_id])
    const other = { ...rows[0].manifest, snapshot_sha256: '0'.repeat(64) }
    await alter('update app.report set manifest = $2 where report_id = $1', [report_id, JSON.stringify(other)])
    const { result } = (await t.runToEnd(await t.make(`POST /reports/${report_id}/verify`))) as {
      result: { is_identical: boolean; files: { differs: string[] }[] }
    }
    await alter('update app.report set manifest = $2 where report_id = $1', [
      report_id,
      JSON.stringify(rows[0].manifest),
    ])
    expect(result.is_identical).toBe(false)
    for (const { differs } of result.files) expect(differs).toEqual(['snapshot'])
    expect(await countAlarms()).toBe(1)
  })

  const countAlarms = async () =>
    (await w.runtime.metrics.alarms.get()).values.find(({ labels }) => labels.reason === 'report_altered')?.value

  test('is found to differ where bytes cannot be decrypted, the row says something else or a file is gone', async () => {
    const made = await make({ ...request(subject_id), formats: ['json', 'csv'] })
    const flip = (part: string) =>
      `update app.report_part set content = set_byte(content, 40, get_byte(content, 40) # 1) where report_id = $1 and part = '${part}'`
    const set = (change: string) => `update app.report set ${change} where report_id = $1`
    const cases: [string, string, string[][]][] = [
      [flip('csv'), flip('csv'), [['content'], []]],
      [flip('snapshot'), flip('snapshot'), [['snapshot'], ['snapshot']]],
      ...[
        [`template_key = 'programme-overview'`, `template_key = 'subject-dossier'`],
        [`parameters = '{}'`, `parameters = manifest -> 'parameters'`],
        [`formats = '{csv}'`, `formats = '{json,csv}'`],
        [`created_by = 'user:x'`, `created_by = '${made.report.created_by}'`],
      ].map(([change, back]): [string, string, string[][]] => [
        ...([set(change as string), set(back as string)] as const),
        [['request'], ['request']],
      ]),
      [`delete from app.report_format where report_id = $1 and format = 'csv'`, 'select $1::uuid', [['request']]],
    ]
    let alarms = (await countAlarms()) ?? 0
    for (const [change, back, expected] of cases) {
      await alter(change, [made.report_id])
      const { result } = (await t.runToEnd(await t.make(`POST /reports/${made.report_id}/verify`))) as {
        result: { is_identical: boolean; files: { differs: string[] }[] }
      }
      expect([change, result.is_identical, result.files.map(({ differs }) => differs)]).toEqual([
        change,
        false,
        expected,
      ])
      expect(await t.make(`GET /reports/${made.report_id}`)).toMatchObject({ is_identical: false })
      expect(await countAlarms()).toBe(++alarms)
      await alter(back, [made.report_id])
    }
  })

  test('is found to differ where what is stored beside its content was altered, also without a JSON file', async () => {
    const made = await make({ ...request(subject_id), formats: ['csv'] })
    const { rows } = await superuser.query('select manifest from app.report where report_id = $1', [made.report_id])
    const [{ manifest }] = rows
    expect(manifest.receipts).toHaveLength(1)
    const withManifest = (changed: object) => `manifest = $q$${JSON.stringify({ ...manifest, ...changed })}$q$`
    const set = (change: string) => `update app.report set ${change} where report_id = $1`
    const back = set(withManifest({}))
    const resize = (by: string) => `update app.report_format set size_bytes = size_bytes ${by} where report_id = $1`
    const cases: [string, string, string[]][] = [
      [set(withManifest({ receipts: [] })), back, ['manifest']],
      [set(withManifest({ receipts: [], decisions: [] })), back, ['manifest']],
      [set(withManifest({ created_at: '2020-01-01T00:00:00Z' })), back, ['manifest']],
      [set(withManifest({ list_versions: [] })), back, ['manifest']],
      [set(`manifest = '{}'`), back, ['manifest']],
      [set(withManifest({ fonts: 7 })), back, ['manifest']],
      [
        set(`created_at = created_at - interval '1 day'`),
        set(`created_at = created_at + interval '1 day'`),
        ['request'],
      ],
      [set(`readers = readers || '{viewer}'`), set(`readers = array_remove(readers, 'viewer')`), ['request']],
      [set(`schedule_id = report_id`), set(`schedule_id = null`), ['request']],
      [resize('+ 1'), resize('- 1'), ['content']],
    ]
    for (const [change, restore, differs] of cases) {
      await alter(change, [made.report_id])
      const end = await t.runToEnd(await t.make(`POST /reports/${made.report_id}/verify`))
      expect([change, end['state'], end['result']]).toMatchObject([
        ...[change, 'succeeded', { is_identical: false, files: [{ is_identical: false, differs }] }],
      ])
      if (change.includes(`'{}'`))
        expect((await w.call(`GET /reports/${made.report_id}/manifest`, { token: await t.token() })).json.code).toBe(
          'content_corrupt',
        )
      await alter(restore, [made.report_id])
    }
    // Without the hashes that reports of earlier releases do not have.
    const report = await inTenant((tx) => getStored(tx, made.report_id))
    const { snapshot } = await inTenant((tx) => readSnapshot(w.kernel, tx, report))
    const { manifest_sha256, readers_sha256, ...earlier } = snapshot
    expect([manifest_sha256, readers_sha256]).toEqual([expect.any(String), expect.any(String)])
    const compare = (row: object, described: object) =>
      listAltered({ ...report, ...row }, { snapshot: earlier, manifest: { ...manifest, ...described } })
    expect(compare({}, {})).toEqual([])
    expect(compare({}, { receipts: [] })).toEqual(['manifest'])
    expect(compare({}, { created_at: '2020-01-01T00:00:00Z' })).toEqual(['manifest'])
    expect(compare({ created_at: '2020-01-01T00:00:00Z' }, {})).toEqual(['request'])
    const { decisions: _, ...oldest } = manifest
    expect(listAltered(report, { snapshot: earlier, manifest: oldest })).toEqual([])
  })

  test('never changes: the database refuses another snapshot, other files and other sources', async () => {
    const changes = [
      `update app.report set manifest = '{}' where report_id = $1`,
      `update app.report set snapshot_sha256 = repeat('1', 64) where report_id = $1`,
      `update app.report set readers = '{viewer}' where report_id = $1`,
      `update app.report set state = 'collecting' where report_id = $1`,
      `insert into app.report_part (tenant_id, report_id, part, content) values (app.tenant_id(), $1, 'csv', '')`,
      `update app.report_part set content = '' where report_id = $1`,
      `delete from app.report_part where report_id = $1`,
      `update app.report_format set sha256 = repeat('1', 64) where report_id = $1`,
      `delete from app.report_source where report_id = $1`,
      `delete from app.report where report_id = $1`,
    ]
    for (const change of changes)
      await expect(
        inTenant((tx) => tx.run(change, [report_id])),
        change,
      ).rejects.toThrow()
    // These two by triggers of their own: nothing else refuses them.
    const own: readonly [trigger: string, change: string][] = [
      [
        'report_source_keep on app.report_source',
        `insert into app.report_source (tenant_id, report_id, restriction_id)
         select r.tenant_id, $1, r.restriction_id from app.restriction r where r.tenant_id = app.tenant_id() limit 1`,
      ],
      [
        'report_verdict on app.report',
        `update app.report set is_identical = not coalesce(is_identical, false), verified_at = now() where report_id = $1`,
      ],
    ]
    for (const [trigger, change] of own) {
      const act = () =>
        inTenant((tx) => tx.run(change, [report_id])).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        )
      expect([trigger, await act()]).toEqual([trigger, 'PB002'])
    }
  })

  test('is hidden from people who may not see something it was made from', async () => {
    const outsider = (await w.person(t.tenant_id, ['compliance_officer', 'auditor'])).token
    const see = async (path: string) => (await w.call(`GET ${path}`, { token: outsider })).status
    const paths = ['', '/content?format=csv', '/manifest'].map((path) => `/reports/${report_id}${path}`)
    expect(await Promise.all(paths.map(see))).toEqual([200, 200, 200])
    const { rows } = await superuser.query('select restriction_id from app.document where subject_id = $1', [
      subject_id,
    ])
    const { restriction_id } = rows[0]
    await t.make(`POST /restrictions/${restriction_id}/impose`)
    expect(await Promise.all(paths.map(see))).toEqual([404, 404, 404])
    const listed = (await w.call('GET /reports', { token: outsider })).json.items
    expect(listed.map((one: { report_id: string }) => one.report_id)).not.toContain(report_id)
    expect((await t.make(`GET /reports/${report_id}`)).restriction_id).toBe(restriction_id)

    // A new one holds nothing restricted, unless it belongs to the restriction.
    const open = await make({ template: 'subject-dossier', parameters: { subject_id }, formats: ['json'] })
    expect((await readContent(open.report_id, 'json', outsider)).json.data.documents).toEqual([])
    const inside = {
      template: 'subject-dossier',
      parameters: { subject_id },
      formats: ['json', 'html'],
      restriction_id,
    }
    const restricted = await make(inside)
    expect((await readContent(restricted.report_id, 'json')).json.data.documents).toHaveLength(1)
    expect((await readContent(restricted.report_id, 'html')).text).toContain('RESTRICTED')
    expect((await readContent(restricted.report_id, 'json', outsider)).status).toBe(404)
    const refused = await w.call('POST /reports', { token: outsider, body: inside })
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
  })

  test('is kept by a retention policy and by a hold, and gone with its subject: manifest and hashes stay', async () => {
    const own = await newSubject('Grace Hopper')
    const { report_id: id, report } = await make({ ...request(own), formats: ['json'] })
    const remove = async () => w.call(`DELETE /reports/${id}?reason=Old`, { token: await t.token() })
    const subject = { subject_id: own, sure: [], own: [], marks: [], also: [] }
    const find = () => inTenant((tx) => reportErasure.find(tx, subject))
    const erase = () => inTenant((tx) => reportErasure.erase(tx, subject, () => {}))
    expect((await remove()).json.code).toBe('retention')
    const hold = { object_kind: 'report', object_id: id, reason: 'Order of the court' }
    const { hold_id } = await t.make('POST /holds', { body: hold })
    expect((await remove()).json.code).toBe('legal_hold')
    await inTenant((tx) =>
      tx.run('update app.retention_policy set classes = $2::jsonb where tenant_id = $1', [
        tx.tenant_id,
        JSON.stringify([{ record_class: 'reports', keep_days: 0, basis: 'Test' }]),
      ]),
    )
    expect((await remove()).json.code).toBe('legal_hold')
    expect(await find()).toMatchObject([{ by_id: 1, held_by_id: 1 }])
    await expect(erase()).rejects.toMatchObject({ code: 'legal_hold' })
    const another = { token: await t.token(allRoles, t.author), body: { reason: 'The case has ended' } }
    await t.make(`POST /holds/${hold_id}/release`, another)
    expect(await find()).toMatchObject([{ by_id: 1, held_by_id: 0 }])
    expect(await erase()).toMatchObject([{ count: 1 }])
    const { rows } = await superuser.query('select part from app.report_part where report_id = $1', [id])
    expect(rows).toEqual([])
    const gone = await readContent(id, 'json')
    expect([gone.status, gone.json.code, gone.json.files]).toEqual([410, 'erased', report.files])
    expect((await t.make(`GET /reports/${id}/manifest`)).snapshot_sha256).toBe(report.snapshot_sha256)
    expect((await remove()).json.code).toBe('transition_not_allowed')
    expect((await w.call(`POST /reports/${id}/verify`, { token: await t.token() })).json.code).toBe('erased')

    const other = await make({ ...request(await newSubject('Ada')), formats: ['json'] })
    expect((await w.call(`DELETE /reports/${other.report_id}?reason=Old`, { token: await t.token() })).status).toBe(204)
    expect((await t.make(`GET /reports/${other.report_id}`)).state).toBe('deleted')
  })
})

/** What the document of a report says, as it is printed; charts are drawn, with the numbers as their description. */
async function listPrinted(report_id: string): Promise<string[]> {
  const { snapshot } = await inTenant(async (tx) => readSnapshot(w.kernel, tx, await getStored(tx, report_id)))
  const { title, subtitle, blocks, sections } = snapshot.document
  const all = [...blocks, ...sections.flatMap((section) => section.blocks)]
  const texts = all.flatMap((block): string[] => {
    switch (block.kind) {
      case 'facts':
        return block.items.flatMap(({ label, value }) => [label, value])
      case 'list':
        return [...block.items]
      case 'callout':
        return [block.title, block.text]
      case 'chart':
        return [block.title]
      case 'table':
        return block.rows.length > 0
          ? [...block.columns.map((column) => column.title), ...block.rows.flat()]
          : [block.empty]
      default:
        return [block.text]
    }
  })
  return [title, subtitle, ...sections.map((section) => section.title), ...texts].map((text) =>
    w.kernel.printing.pdf.substituteMissing(toPrinted(text)).text.replaceAll(/\s/g, ''),
  )
}
const getStored = async (tx: Tx, report_id: string) => (await findStoredReport(tx, report_id)) as StoredReport

/** A long text may go on after the foot of a page and the header of the next. */
function isDrawn(drawn: string, text: string): boolean {
  if (drawn.includes(text)) return true
  for (let at = 10; at < text.length - 10; at++)
    if (drawn.includes(text.slice(0, at)) && drawn.includes(text.slice(at))) return true
  return false
}

/** Texts of the stored document that are not in the PDF file. */
async function findLost(report_id: string): Promise<string[]> {
  const { drawn } = await readPdf((await readContent(report_id, 'pdf')).bytes)
  return (await listPrinted(report_id)).filter((text) => !isDrawn(drawn, text))
}

describe('a dossier of somebody who was rated and investigated', () => {
  const note = 'The customer has a seat in parliament, so that the whole relationship is looked at.'
  let subject_id: string
  let reference: string
  let investigation_id: string
  let report_id: string
  let case_report_id: string
  let text: string

  beforeAll(async () => {
    const { matrix_key, country_list } = await ensurePolicy(t)
    const external_id = 'P 4711/x'
    const body = { subject_type: 'person', name: 'Grace Brewster', external_id, attributes: { country: 'DE' } }
    subject_id = (await t.make('POST /subjects', { body })).subject_id
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
    await t.make(`PATCH /subjects/${subject_id}`, { body: { attributes: { country: 'IR' } } })
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
    const batch = { matrix_key, items: [{ subject_id, inputs: { pep: true } }] }
    await t.runToEnd(await t.make('POST /batch-evaluations', { body: batch }))
    await override()
    const alert = {
      ...{
        source: 'screening',
        dedup_key: 'listed',
        title: 'Name resembles a listed party',
        priority: 'high',
        subject_id,
      },
      facts: [{ name: 'listed_party', value: 'DEMO-0019, Specimena Mockstein' }],
      explanation: {
        sentence: 'The family names resemble each other.',
        fields: [{ name: 'birth_date', subject_value: '1979-11-30', matched_value: '1957-11-10', agrees: false }],
        references: [{ kind: 'list', id: country_list, version: 1 }],
      },
    }
    const { alert_id } = await t.make('POST /alerts', { body: alert })
    await t.make(`POST /alerts/${alert_id}/escalate`, { body: { playbook_key: 'edd-person', note } })
    const other = await t.make('POST /alerts', {
      body: { ...alert, dedup_key: 'other', priority: 'low', title: 'Old address' },
    })
    const dismissal = { reason_code: 'ALR_FALSE_MATCH', note: 'She moved in March.' }
    await t.make(`POST /alerts/${other.alert_id}/dismiss`, { body: dismissal })
    await closeCase()
    const asked = { template: 'investigation-pack', parameters: { investigation_id } }
    case_report_id = (await make(asked)).report_id
    report_id = (await make(request(subject_id))).report_id
    text = (await listPrinted(report_id)).join('\n')
  })

  async function override(): Promise<void> {
    await t.setApprovalRules([{ action: 'risk-override', approvers: 1, role: 'compliance_officer' }])
    const expires_at = new Date(Date.now() + 864e5).toISOString()
    const body = { band: 'prohibited', reason: 'Asked by the board', expires_at }
    const { cr_id } = await t.make(`POST /subjects/${subject_id}/risk-override`, { body })
    await t.make(`POST /change-requests/${cr_id}/approve`, { token: await t.token(allRoles, t.author), body: {} })
    await t.setApprovalRules([])
  }

  async function closeCase(): Promise<void> {
    const [opened] = (await t.make(`GET /investigations?subject_id=${subject_id}`)).items
    ;({ investigation_id, reference } = opened)
    const at = `/investigations/${investigation_id}`
    const owner = { owner_kind: 'investigation', owner_id: investigation_id }
    const item = {
      ...owner,
      kind: 'external_reference',
      title: 'Entry of the list',
      reference: 'DEMO-0019',
      source: 'List',
    }
    const obtained_at = new Date().toISOString()
    const { evidence_id } = await t.make('POST /evidence', { body: { ...item, obtained_at } })
    await settleCase(t, { investigation_id })
    await t.make(`POST ${at}/tasks`, { body: { title: 'Plan the end' } })
    const paragraphs = [
      { kind: 'fact', text: 'The listed party was born twenty-two years earlier.', cites: [evidence_id] },
      { kind: 'assessment', text: 'She is not the listed party.', cites: [] },
    ]
    await t.make(`PUT ${at}/narrative`, { body: { paragraphs } })
    await proposeAndClose()
  }

  async function proposeAndClose(): Promise<void> {
    const at = `/investigations/${investigation_id}`
    const outcome = { outcome: 'INV_NO_SUSPICION', note: 'Dates of birth differ.' }
    const { proposal } = await t.make(`POST ${at}/propose-outcome`, {
      token: await t.token(allRoles, t.author),
      body: outcome,
    })
    const closing = { proposal_hash: proposal.proposal_hash, note: 'Agreed, review in a year.' }
    await t.make(`POST ${at}/close`, { body: closing })
  }

  const say = (sentence: string) => expect(text).toContain(sentence.replaceAll(/\s/g, ''))

  test('says what each case found, on what evidence, who proposed and closed it, and where its report is', async () => {
    const { seals } = await t.make(`GET /investigations/${investigation_id}`)
    expect(seals).toBe(1)
    // Nobody waits for an open task of a closed case.
    expect((await listPrinted(case_report_id)).join('\n')).toMatch(/Plantheend\n–\nnotneeded/)
    for (const sentence of [
      'No suspicion (INV_NO_SUSPICION). The evidence leaves no ground for suspicion.',
      'The listed party was born twenty-two years earlier. [E1]',
      'Assessment: She is not the listed party.',
      'Entry of the list',
      'Dates of birth differ.',
      'Agreed, review in a year.',
      case_report_id,
      `/api/investigations/${investigation_id}/pack`,
    ])
      say(sentence)
    const files = (await t.make(`GET /reports/${case_report_id}`)).files as { format: string; sha256: string }[]
    say(files.find(({ format }) => format === 'pdf')?.sha256 as string)
  })

  test('says what an alert matched, on which list version, how it ended and why', async () => {
    const { country_list } = await ensurePolicy(t)
    say('listed party: DEMO-0019, Specimena Mockstein')
    say('birth date: 1979-11-30 against 1957-11-10, differs')
    say(`Checked with list ${country_list} version 1`)
    say(`It led to ${reference}: No suspicion. Written with it: “${note}”`)
    say('Not the same party: The alert concerns another party than the subject. Written with it: “She moved in March.”')
    const { list_versions } = await t.make(`GET /reports/${report_id}/manifest`)
    expect(list_versions).toContainEqual(expect.objectContaining({ list_key: country_list, version: 1 }))
  })

  test('says why a rating rose against the one before, also in batches, and who approved an override', async () => {
    say('Rose from Low 20.00%. Factors: Country +35.00%, was DE, is IR.')
    say('Unchanged. Trigger now: Politically exposed.')
    say('First rating by this matrix.')
    expect(text).toMatch(/Overrideproposedby.+,approvedby.+/)
    say('Asked by the board')
    say('Country')
    // Who asked for it: not only that the service did it.
    expect(text).toMatch(/version1,inabatchorderedby(?!theservice)./)
    expect(text).not.toContain('requestedbytheservice')
  })

  test('is named after the external id in file and title, and cites decisions with the hash of their receipts', async () => {
    const pdf = await readContent(report_id, 'pdf')
    const name = `subject-dossier-P-4711-x-${report_id}.pdf`
    expect(pdf.headers['content-disposition']).toBe(`attachment; filename="${name}"`)
    expect(pdf.bytes.toString('latin1')).toContain('Subject dossier P 4711/x')
    const { decisions, receipts } = await t.make(`GET /reports/${report_id}/manifest`)
    expect(decisions.map(({ receipt_id }: { receipt_id: string }) => receipt_id)).toEqual(receipts)
    const [{ evaluation_id, document_sha256, receipt_sha256 }] = decisions
    const decision = await t.make(`GET /evaluations/${evaluation_id}`)
    expect([decision.receipt.manifest_hash, decision.document_hash]).toEqual([receipt_sha256, document_sha256])
    const csv = (await readContent(report_id, 'csv')).text
    for (const one of decisions) expect(csv).toContain(`SHA-256 of the decision document,${one.document_sha256}`)
    const found = await t.make(`GET /reports?template=subject-dossier&subject_id=${subject_id}`)
    expect(found.items.map((one: { report_id: string }) => one.report_id)).toEqual([report_id])
    expect((await t.make(`GET /reports?template=subject-dossier&template_key=list-change-note`)).items).toEqual([])
  })

  test('has every text of its document in the PDF file, as the reports of all templates', async () => {
    const { decisions } = await t.make(`GET /reports/${report_id}/manifest`)
    const requests = [
      { template: 'decision-explanation', parameters: { evaluation_id: decisions[0].evaluation_id } },
      { template: 'programme-overview', parameters: { days: 7 } },
      { template: 'list-change-note', parameters: { list_key: 'reason-codes', from_version: 1, to_version: 2 } },
    ]
    const made = [report_id, case_report_id]
    for (const asked of requests) made.push((await make({ ...asked, formats: ['json', 'pdf'] })).report_id)
    const templates = (await t.make('GET /reports/templates')).items as { key: string }[]
    expect(new Set([...requests.map(({ template }) => template), 'subject-dossier', 'investigation-pack'])).toEqual(
      new Set(templates.map(({ key }) => key)),
    )
    for (const id of made) expect([id, await findLost(id)]).toEqual([id, []])
  })

  test('says that the report of a case is from before it was closed', async () => {
    await t.make(`POST /investigations/${investigation_id}/reopen`, { body: { note: 'The board asks again.' } })
    await proposeAndClose()
    const listWords = async () => (await listPrinted((await make(request(subject_id))).report_id)).join('\n')
    const early = 'None was made since the case was closed'.replaceAll(' ', '')
    expect(await listWords()).toMatch(new RegExp(`${early}.*${case_report_id}`, 's'))
    await make({ template: 'investigation-pack', parameters: { investigation_id } })
    expect(await listWords()).not.toContain(early)
  })

  test('says nothing of a case that is restricted, and is hidden when one of its documents is', async () => {
    const outsider = (await w.person(t.tenant_id, ['compliance_officer'])).token
    expect((await readContent(report_id, 'csv', outsider)).status).toBe(200)
    await t.make(`PUT /investigations/${investigation_id}/access`, {
      body: { is_restricted: true, reason: 'Suspicion' },
    })
    expect((await readContent(report_id, 'csv', outsider)).status).toBe(404)
    const open = await make({ ...request(subject_id), formats: ['json', 'csv'] })
    const csv = (await readContent(open.report_id, 'csv', outsider)).text
    for (const hidden of [reference, 'twenty-two years', case_report_id]) expect(csv).not.toContain(hidden)
    expect((await readContent(open.report_id, 'json', outsider)).text).not.toContain(investigation_id)
  })
})

describe('a dossier of somebody with evidence', () => {
  test('leaves out a document that was restricted later', async () => {
    const subject_id = await newSubject('Edith Clarke')
    const attach = async (title: string): Promise<string> => {
      const headers = { 'content-type': 'application/octet-stream' }
      const { upload_id } = await t.make(`POST /uploads?file_name=${title}.txt`, { payload: title, headers })
      const { document_id } = await t.make('POST /documents', { body: { upload_id, title } })
      const owner = { owner_kind: 'subject', owner_id: subject_id }
      await t.make('POST /evidence', { body: { ...owner, kind: 'document', object_id: document_id, title } })
      return document_id
    }
    await attach('Passport')
    const hidden = await attach('Tip')
    const listTitles = async (): Promise<string[]> => {
      const { report_id } = await make({ ...request(subject_id), formats: ['json'] })
      const { data } = (await readContent(report_id, 'json')).json
      return data.evidence.map(({ title }: { title: string }) => title)
    }
    expect(await listTitles()).toEqual(['Tip', 'Passport'])
    await t.make(`POST /documents/${hidden}/restrict`)
    expect(await listTitles()).toEqual(['Passport'])
  })
})

describe('the report of an investigation', () => {
  test('shows the case to people who may see it, and is hidden with it', async () => {
    const subject_id = await newSubject('Grace Hopper')
    const body = { subject_id, playbook_key: 'edd-person' }
    const { investigation_id, reference } = await t.make('POST /investigations', { body })
    const at = `/investigations/${investigation_id}`
    await t.make(`POST ${at}/notes`, { body: { text: 'The branch knows her' } })
    const paragraphs = [{ kind: 'assessment', text: 'The payments fit her business.', cites: [] }]
    await t.make(`PUT ${at}/narrative`, { body: { paragraphs } })
    const asked = { template: 'investigation-pack', parameters: { investigation_id }, formats: ['html', 'json', 'pdf'] }
    const { report_id, report } = await make(asked)
    expect(report).toMatchObject({ state: 'ready', subject_id, restriction_id: null })
    const text = (await readPdf((await readContent(report_id, 'pdf')).bytes)).pages.join('\n')
    for (const part of [reference, 'Grace Hopper', 'The payments fit her business.', 'The branch knows her'])
      expect(text).toContain(part)
    const { data } = (await readContent(report_id, 'json')).json
    expect(data.steps.map(({ step_key }: { step_key: string }) => step_key)).toContain('source-of-funds')

    const outsider = (await w.person(t.tenant_id, ['compliance_officer'])).token
    expect((await readContent(report_id, 'html', outsider)).status).toBe(200)
    await t.make(`PUT ${at}/access`, { body: { is_restricted: true, reason: 'Suspicion' } })
    expect((await readContent(report_id, 'html', outsider)).status).toBe(404)
    const restricted = await make({ ...asked, formats: ['html'] })
    expect((await readContent(restricted.report_id, 'html')).text).toContain('RESTRICTED')
    expect((await readContent(restricted.report_id, 'html', outsider)).status).toBe(404)
    const dossier = await make({ ...request(subject_id), formats: ['json'] })
    expect((await readContent(dossier.report_id, 'json', outsider)).json.data.cases).toEqual([])
    // As a case that does not exist.
    const replies = [investigation_id, uuidv7()].map(async (id) => {
      const unseen = { ...asked, parameters: { investigation_id: id } }
      const { status, json } = await w.call('POST /reports', { token: outsider, body: unseen })
      return [status, json.code, json.detail, json.errors]
    })
    const [known, unknown] = await Promise.all(replies)
    expect(known).toEqual(unknown)
    expect(known?.slice(0, 2)).toEqual([409, 'report_invalid'])
  })
})

describe('what a report cannot be made of', () => {
  test.for([
    ['an unknown template', { template: 'missing' }, 'report_invalid'],
    ['parameters of another template', { template: 'subject-dossier', parameters: { days: 3 } }, 'report_invalid'],
    ['a missing subject', { template: 'subject-dossier', parameters: { subject_id: uuidv7() } }, 'report_invalid'],
    ['an unknown locale', { template: 'programme-overview', locale: 'not a locale' }, 'report_invalid'],
    ['an unknown time zone', { template: 'programme-overview', time_zone: 'Nowhere' }, 'report_invalid'],
  ] as const)('%s', async ([, body, code]) => {
    const { status, json } = await w.call('POST /reports', { token: await t.token(), body })
    expect([status, json.code]).toEqual([409, code])
  })

  test('is requested and read by the roles of its template only', async () => {
    const analyst = (await w.person(t.tenant_id, ['analyst'])).token
    const body = { template: 'programme-overview', formats: ['json', 'csv'] }
    const refused = await w.call('POST /reports', { token: analyst, body })
    expect([refused.status, refused.json.errors[0].pointer]).toEqual([409, '#/template'])
    const { report_id } = await make(body)
    expect((await w.call(`GET /reports/${report_id}`, { token: analyst })).status).toBe(404)
    expect((await readContent(report_id, 'csv', analyst)).status).toBe(404)
    const absent = await readContent(report_id, 'pdf')
    expect([absent.status, absent.json.code]).toEqual([409, 'format_unavailable'])
  })

  test('a file that is still being made is another answer than one that is never made', async () => {
    const job = await t.make('POST /reports', { body: { template: 'programme-overview', formats: ['json', 'csv'] } })
    const id = job.resource.split('/').at(-1)
    const early = await readContent(id, 'csv')
    expect(early.json).toMatchObject({ status: 409, code: 'not_finished', retryable: true })
    expect(early.json.detail).toContain(job.job_id)
    await w.call(`POST /jobs/${job.job_id}/cancel`, { token: await t.token() })
    const ended = await readContent(id, 'csv')
    expect([ended.json.code, ended.json.detail]).toEqual(['format_unavailable', 'The job that made it has ended.'])
    const row: ReportRow = await t.make(`GET /reports/${id}`)
    const get = (more: Partial<ReportRow>, format: 'csv' | 'pdf') => () => getFile({ ...row, ...more }, format)
    const making = {
      state: 'rendering',
      failure: null,
      files: [{ format: 'json', sha256: 'x', size_bytes: 1 }],
    } as const
    expect(get({ ...making, files: [...making.files] }, 'csv')).toThrow(
      expect.objectContaining({ code: 'not_finished' }),
    )
    expect(get({ ...making, files: [...making.files] }, 'pdf')).toThrow(
      expect.objectContaining({ code: 'format_unavailable' }),
    )
  })
})

describe('the other templates', () => {
  test('explain a decision, note the change of a list and give an overview of the programme', async () => {
    const { matrix_key, country_list } = await ensurePolicy(t)
    const { evaluation_id } = await t.make('POST /evaluations', { body: { matrix_key, inputs: { country: 'IR' } } })
    const decision = await make({
      template: 'decision-explanation',
      parameters: { evaluation_id },
      formats: ['html', 'json'],
    })
    expect(decision.report).toMatchObject({ state: 'ready', subject_id: null })
    expect((await readContent(decision.report_id, 'html')).text).toContain('Residence in IR')
    const parameters = { list_key: country_list, from_version: 1, to_version: 2 }
    const asked = { template: 'list-change-note', parameters, formats: ['csv', 'json'] }
    const early = await w.call('POST /reports', { token: await t.token(), body: asked })
    expect(early.json.errors[0].pointer).toBe('#/parameters/to_version')
    await publishList(t, country_list, [
      { code: 'DE', score_bps: 2500 },
      { code: 'IR', score_bps: 9000 },
      { code: 'FR', score_bps: 1500 },
    ])
    const note = await make(asked)
    const changes = (await readContent(note.report_id, 'json')).json.data.changes
    expect(changes.map(({ key, kind }: { key: string; kind: string }) => [key, kind])).toEqual([
      ['CH', 'removed'],
      ['DE', 'changed'],
      ['FR', 'added'],
    ])
    expect((await readContent(note.report_id, 'csv')).text).toContain('score_bps: was 2000, is 2500')
    const overview = await make({
      template: 'programme-overview',
      parameters: { days: 7 },
      locale: 'de-DE',
      time_zone: 'Asia/Tokyo',
    })
    expect(overview.report).toMatchObject({ state: 'ready', locale: 'de-DE', time_zone: 'Asia/Tokyo' })
    expect((await readContent(overview.report_id, 'html')).text).not.toContain(names[0])
    const { data } = (await readContent(overview.report_id, 'json')).json
    expect(data.counts).toMatchObject({ batches: 1, batch_decisions: 1 })
    expect(data.cases.counts).toMatchObject({ closed: expect.any(Number), reopened: 0, returned: 0 })
    const times = data.changes.map(({ effective_from }: { effective_from: string }) => Date.parse(effective_from))
    expect(times).toEqual(times.toSorted((one: number, two: number) => two - one))
  })
})

describe('a schedule', () => {
  test('requests a report once for each due time, says why it did not, and can be paused and removed', async () => {
    const body = {
      name: 'Weekly',
      template: 'programme-overview',
      formats: ['json'],
      cron: '0 6 * * mon',
      time_zone: 'UTC',
    }
    const schedule = await t.make('POST /reports/schedules', { body })
    const at = `/reports/schedules/${schedule.schedule_id}`
    const wrong = await w.call('POST /reports/schedules', {
      token: await t.token(),
      body: { ...body, name: 'B', cron: 'x' },
    })
    expect(wrong.json.code).toBe('schedule_invalid')
    const runDue = async () => {
      await alter(`update app.report_schedule set next_run_at = now() - interval '3 weeks' where schedule_id = $1`, [
        schedule.schedule_id,
      ])
      const kernel = w.kernel
      await inTenant((tx) => runIfDue(kernel, tx, schedule.schedule_id))
      return inTenant((tx) => runIfDue(kernel, tx, schedule.schedule_id))
    }
    expect(await runDue()).toBeNull()
    const { items } = await t.make(`GET /reports?schedule_id=${schedule.schedule_id}`)
    expect(items).toHaveLength(1)
    expect(await t.make(`GET ${at}`)).toMatchObject({ last_report_id: items[0].report_id, last_skipped: null })
    await alter(`update app.report_schedule set template_key = 'gone' where schedule_id = $1`, [schedule.schedule_id])
    await runDue()
    expect((await t.make(`GET ${at}`)).last_skipped).toMatch(/no such template/)
    await alter(`update app.report_schedule set template_key = 'programme-overview' where schedule_id = $1`, [
      schedule.schedule_id,
    ])
    expect(await t.make(`PATCH ${at}`, { body: { paused: true } })).toMatchObject({ paused: true, next_run_at: null })
    expect((await w.call(`DELETE ${at}`, { token: await t.token() })).status).toBe(204)
    expect((await w.call(`GET ${at}`, { token: await t.token() })).status).toBe(404)
  })

  test('is paused when its person left, and when its subject is erased; the record has no name of it', async () => {
    const name = 'Dossier of Zacharias Quennerstedt'
    const subject_id = await newSubject('Zacharias Quennerstedt')
    const body = { ...request(subject_id), name, formats: ['json'], cron: '0 6 * * mon', time_zone: 'UTC' }
    const officer = await t.newUser()
    const token = await t.token(undefined, `user:${officer}`)
    const { schedule_id } = await t.make('POST /reports/schedules', { body, token })
    const at = `/reports/schedules/${schedule_id}`
    const { rows } = await superuser.query('select detail::text from app.audit_event where tenant_id = $1', [
      t.tenant_id,
    ])
    expect(rows.filter(({ detail }) => detail.includes('Quennerstedt'))).toEqual([])
    const runDue = async () => {
      await alter(`update app.report_schedule set next_run_at = now() - interval '1 day' where schedule_id = $1`, [
        schedule_id,
      ])
      await inTenant((tx) => runIfDue(w.kernel, tx, schedule_id))
      return t.make(`GET ${at}`)
    }
    await alter(`update app.user_account set state = 'inactive' where user_id = $1`, [officer])
    expect(await runDue()).toMatchObject({
      paused: true,
      last_report_id: null,
      last_skipped: expect.stringContaining('deactivated'),
    })
    // Whoever resumes it is responsible for it.
    await t.make(`PATCH ${at}`, { body: { paused: false } })
    expect(await runDue()).toMatchObject({ paused: false, last_report_id: expect.any(String), last_skipped: null })
    const subject = { subject_id, sure: [], own: [], marks: [], also: [] }
    expect(await inTenant((tx) => scheduleErasure.erase(tx, subject, () => {}))).toEqual([
      { restriction_id: null, count: 1 },
    ])
    expect(await t.make(`GET ${at}`)).toMatchObject({ name: `erased ${schedule_id}`, paused: true })
  })
})

describe('a schedule about a case', () => {
  const newCase = async (name: string): Promise<string> => {
    const body = { subject_id: await newSubject(name), playbook_key: 'edd-person' }
    return (await t.make('POST /investigations', { body })).investigation_id
  }
  const toBody = (investigation_id: string, name: string) => ({
    ...{ name, template: 'investigation-pack', parameters: { investigation_id }, formats: ['json'] },
    ...{ cron: '0 6 * * mon', time_zone: 'UTC' },
  })
  let officer: string
  let outsider: string
  let investigation_id: string
  let schedule_id: string
  let restriction_id: string
  let at: string

  beforeAll(async () => {
    officer = await t.token(['compliance_officer'], `user:${await t.newUser()}`)
    outsider = (await w.person(t.tenant_id, ['compliance_officer', 'auditor', 'analyst'])).token
    investigation_id = await newCase('Ada Byron')
    const created = await t.make('POST /reports/schedules', { token: officer, body: toBody(investigation_id, 'Ada') })
    ;({ schedule_id } = created)
    at = `/reports/schedules/${schedule_id}`
    expect(created.restriction_id).toBeNull()
    expect((await w.call(`GET ${at}`, { token: outsider })).status).toBe(200)
    await t.make(`PUT /investigations/${investigation_id}/access`, {
      body: { is_restricted: true, reason: 'Suspicion' },
    })
    ;({ restriction_id } = await t.make(`GET ${at}`))
  })

  /** As the job that the queue starts. */
  async function runDue(): Promise<void> {
    await alter(`update app.report_schedule set next_run_at = now() - interval '1 day' where schedule_id = $1`, [
      schedule_id,
    ])
    const scope = { tenant_id: t.tenant_id, actor: 'job:test', sight: `restriction:${restriction_id}` } as const
    await w.kernel.transactions.write(scope, (tx) => runIfDue(w.kernel, tx, schedule_id))
  }

  test('is hidden with the case, also in the record and by its name, and shown to people with access', async () => {
    expect(restriction_id).toMatch(/^[0-9a-f-]{36}$/)
    for (const token of [officer, outsider]) {
      const { json } = await w.call('GET /reports/schedules', { token })
      expect(json.items.map((one: { schedule_id: string }) => one.schedule_id)).not.toContain(schedule_id)
      expect((await w.call(`GET ${at}`, { token })).status).toBe(404)
      expect((await w.call(`PATCH ${at}`, { token, body: { paused: true } })).status).toBe(404)
      expect((await w.call(`DELETE ${at}`, { token })).status).toBe(404)
    }
    const record = `GET /audit/objects/reports/${schedule_id}`
    expect((await w.call(record, { token: outsider })).json.items ?? []).toEqual([])
    const seen = (await t.make(record)).items as { operation: string }[]
    expect(seen.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(['createReportSchedule', 'getReportSchedule']),
    )
    const { rows } = await superuser.query('select restriction_id from app.job_schedule where schedule_id = $1', [
      schedule_id,
    ])
    expect(rows).toEqual([{ restriction_id }])
    const same = { ...toBody(investigation_id, 'Ada'), template: 'programme-overview', parameters: {} }
    expect((await w.call('POST /reports/schedules', { token: outsider, body: same })).status).toBe(201)
    expect((await w.call('POST /reports/schedules', { token: outsider, body: same })).json.code).toBe('duplicate')
  })

  test('makes no report for whoever does not see the case any more, and is paused with a reason that others see', async () => {
    await runDue()
    expect(await t.make(`GET ${at}`)).toMatchObject({
      ...{ paused: true, next_run_at: null, last_report_id: null, restriction_id },
      last_skipped: expect.stringContaining('may not see what it is about any more'),
    })
    const { items } = (await w.call(`GET /reports?schedule_id=${schedule_id}`, { token: officer })).json
    expect(items).toEqual([])
  })

  test('makes reports that belong to the restriction, once somebody with access has resumed it', async () => {
    const resumed = await t.make(`PATCH ${at}`, { body: { paused: false } })
    expect(resumed).toMatchObject({ paused: false, restriction_id })
    await runDue()
    const { last_report_id, last_skipped } = await t.make(`GET ${at}`)
    expect(last_skipped).toBeNull()
    const { job_id, ...report } = await t.make(`GET /reports/${last_report_id}`)
    expect(report).toMatchObject({ schedule_id, restriction_id })
    for (const path of [`/reports/${last_report_id}`, `/jobs/${job_id}`])
      expect([path, (await w.call(`GET ${path}`, { token: officer })).status]).toEqual([path, 404])
  })

  test('is shown to an auditor in an emergency with its reports, with a record of it, and not after the access ended', async () => {
    const mlro = await w.person(t.tenant_id, ['compliance_officer'])
    const auditor = await w.person(t.tenant_id, ['auditor'])
    await alter('update app.user_account set is_mlro = true where user_id = $1', [mlro.user_id])
    const { last_report_id } = await t.make(`GET ${at}`)
    const paths = [at, `/reports/${last_report_id}`, `/reports/${last_report_id}/manifest`]
    const readAll = () =>
      Promise.all(paths.map(async (path) => (await w.call(`GET ${path}`, { token: auditor.token })).status))
    await t.runToEnd(await t.make(`GET /jobs/${(await t.make(`GET /reports/${last_report_id}`)).job_id}`))
    expect(await readAll()).toEqual([404, 404, 404])
    const body = { user_id: auditor.user_id, hours: 1, reason: 'Inspection' }
    await t.make(`POST /restrictions/${restriction_id}/break-glass`, { token: mlro.token, body })
    expect(await readAll()).toEqual([200, 200, 200])
    // A job of the auditor that begins after the access has ended reads nothing.
    const late = await w.call(`POST /reports/${last_report_id}/verify`, { token: auditor.token })
    for (const table of ['restriction_access', 'restriction_person'])
      await alter(
        `update app.${table} set until = now() - interval '1 s' ${table === 'restriction_access' ? `, granted_at = now() - interval '1 h'` : ''}
          where restriction_id = $1 and principal = $2`,
        [restriction_id, auditor.principal],
      )
    expect(await readAll()).toEqual([404, 404, 404])
    expect((await t.runToEnd(late.json))['state']).toBe('failed')
    const { items } = await t.make(`GET /restrictions/${restriction_id}/access-log?limit=200`)
    const read = items.filter(({ actor }: { actor: string }) => actor === auditor.principal)
    expect(read.map(({ operation }: { operation: string }) => operation)).toEqual(
      expect.arrayContaining(['getReportSchedule', 'getReport', 'getReportManifest', 'verifyReport']),
    )
  })

  test('is not changed into one about another case, and never loses its restriction', async () => {
    const parameters = { investigation_id: await newCase('Ada King') }
    const changed = await w.call(`PATCH ${at}`, { token: await t.token(), body: { parameters } })
    expect([changed.json.code, changed.json.errors[0].pointer]).toEqual(['report_invalid', '#/parameters'])
    const lose = inTenant((tx) =>
      tx.run('update app.report_schedule set restriction_id = null where schedule_id = $1', [schedule_id]),
    )
    await expect(lose).rejects.toMatchObject({ code: 'PB002' })
  })

  test('is shown again when the case is released', async () => {
    await t.make(`PUT /investigations/${investigation_id}/access`, {
      body: { is_restricted: false, reason: 'Not confirmed' },
    })
    const { json } = await w.call(`GET ${at}`, { token: outsider })
    expect(json).toMatchObject({ schedule_id, restriction_id: null, last_report_id: expect.any(String) })
    // What a schedule made last is hidden where the report is, although the schedule is not.
    const { restriction_id: of } = await t.make('POST /restrictions', { body: { purpose: 'Another case' } })
    await alter('update app.report set restriction_id = $2 where report_id = $1', [json.last_report_id, of])
    expect((await w.call(`GET ${at}`, { token: outsider })).json.last_report_id).toBeNull()
  })

  test('has a name that can be read, and that changes nothing beside it', async () => {
    for (const name of [' ', '\u200b', 'Weekly \u202egnp.exe']) {
      const { status } = await w.call('POST /reports/schedules', {
        token: outsider,
        body: toBody(investigation_id, name),
      })
      expect([name, status]).toEqual([name, 422])
    }
  })
})

describe('PDF files', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-printing-'))
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

  /** Prints with other files or limits until the body has ended. */
  async function withPrinting<T>(settings: Partial<PrintingSettings>, body: () => Promise<T>): Promise<T> {
    const process = { script: path.join(threadsDir, 'compile-process.mjs'), admission: w.kernel.threads.admission }
    const { printing } = w.kernel
    const before = { ...printing }
    Object.assign(printing, createPrinting({ assets_dir: path.join(projectRoot, 'assets'), ...settings }, process))
    try {
      return await body()
    } finally {
      Object.assign(printing, before)
    }
  }

  const copyAssets = (name: string): string => {
    const copy = path.join(folder, name)
    fs.cpSync(path.join(projectRoot, 'assets'), copy, { recursive: true })
    return copy
  }

  /** The same compiler under another version. */
  function createOtherEngine(): string {
    const require = createRequire(import.meta.url)
    const names = ['gnu', 'musl'].map((libc) => `@myriaddreamin/typst-ts-node-compiler-linux-x64-${libc}`)
    fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ version: '9.9.9', main: 'index.cjs' }))
    const name = names.find((one) => fs.existsSync(path.join(projectRoot, 'node_modules', one)))
    const real = require.resolve(name ?? 'missing')
    fs.writeFileSync(path.join(folder, 'index.cjs'), `module.exports = require(${JSON.stringify(real)})`)
    return folder
  }

  test('are not offered where the package is missing, and the request for one is refused', async () => {
    await withPrinting({ package: '@myriaddreamin/missing' }, async () => {
      expect((await t.make('GET /capabilities')).report_formats).toEqual(['json', 'html', 'csv'])
      const body = { template: 'programme-overview', formats: ['pdf'] }
      const { status, json } = await w.call('POST /reports', { token: await t.token(), body })
      expect([status, json.code]).toEqual([409, 'format_unavailable'])
    })
    expect((await t.make('GET /capabilities')).report_formats).toEqual(['json', 'html', 'csv', 'pdf'])
  })

  test('that take too long end the job with the reason; the other files can be read', async () => {
    const assets_dir = copyAssets('slow')
    fs.appendFileSync(
      path.join(assets_dir, 'reports/report.typ'),
      '\n#for i in range(100000000) { let n = calc.rem(i, 7) }\n',
    )
    const endless = { assets_dir, time_limit_ms: 500 }
    const slow = await withPrinting(endless, async () => make({ template: 'programme-overview' }))
    expect(slow.job).toMatchObject({
      state: 'failed',
      problem: { code: 'format_unavailable', detail: expect.stringMatching(/took longer|needs more/) },
    })
    expect(slow.report).toMatchObject({ state: 'failed', failure: expect.stringMatching(/took longer|needs more/) })
    expect((await readContent(slow.report_id, 'html')).status).toBe(200)
    expect((await readContent(slow.report_id, 'pdf')).json.code).toBe('format_unavailable')
    // Started again, it goes on with what is stored.
    const again = await t.runToEnd(await t.make(`POST /jobs/${slow.job['job_id']}/retry`))
    const { files, snapshot_sha256 } = await t.make(`GET /reports/${slow.report_id}`)
    expect([again['state'], files.length, snapshot_sha256]).toEqual(['succeeded', 4, slow.report.snapshot_sha256])
  })

  test('print characters that no font has as code points, say so, and are identical when they are made again', async () => {
    const name = '王小明 \u0001 😀 ا\u1DC7 ≥'
    const { report_id, report } = await make({ ...request(await newSubject(name)), formats: ['json', 'pdf'] })
    expect([report.state, report.failure]).toEqual(['ready', null])
    const text = (await readPdf((await readContent(report_id, 'pdf')).bytes)).pages.join('\n').replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/\[U\+738B\]\[U\+5C0F\]\[U\+660E\] \[U\+0001\] \[U\+1F600\] .*>=/)
    expect(text).toMatch(/Characters that no installed font has are printed as their code points/)
    expect((await readContent(report_id, 'json')).json.data.subject.name).toBe(name)
    const { result } = await t.runToEnd(await t.make(`POST /reports/${report_id}/verify`))
    expect(result).toMatchObject({ is_identical: true })
  })

  test('write a name of two scripts in one direction, also at the top of later pages', async () => {
    const { pdf, layout } = w.kernel.printing
    const blocks = Array.from({ length: 60 }, (_, at) => ({ kind: 'text', text: `Line ${at}` }))
    const head = { lang: 'en', issuer: 'Tenant', kind: 'Report', footer: 'Report', title: 'Dossier', name: 'Dossier' }
    const created = ['2026', '11', '19', '02', '16', '00']
    const content = {
      ...head,
      subtitle: 'محمد Ada',
      blocks,
      sections: [],
      report_id: 'r',
      fonts: pdf.families,
      created,
    }
    const input = { source: layout, inputs: { report: JSON.stringify(content) }, created_at: '2026-11-19T02:16:00Z' }
    const { pages } = await readPdf(await pdf.compile(input, { caller: t.tenant_id }))
    const [first, second] = pages.map((page) => page.split('\n').find((line) => line.includes('Ada')) ?? '')
    expect([first, second].map((line) => line?.replaceAll(' ', ''))).toEqual(['Adaمحمد', 'DossierAdaمحمد'])
  })

  test('have the whole stored text: ligatures, composed letters, words wider than a page; hidden characters are visible', async () => {
    const aliases = [...hardNames, 'رضا پهلوی\u200cنژاد', 'Ali \u202egnp.exe', 'e\u0301a\u0001']
    const subject_id = await newSubject(longName.slice(0, 200), {
      ...Object.fromEntries(aliases.map((alias, at) => [`alias_${at}`, alias])),
      note: longName,
    })
    const { report_id, report } = await make({ ...request(subject_id), formats: ['html', 'json', 'pdf'] })
    expect(report).toMatchObject({ state: 'ready', failure: null })
    const { pages } = await readPdf((await readContent(report_id, 'pdf')).bytes)
    const lines = pages.join('\n').split('\n')
    const expected = [...hardNames, 'رضا پهلوینژاد', 'Ali [U+202E]gnp.exe', 'éa[U+0001]']
    expect(expected.filter((name) => !lines.some((line) => line.includes(name.normalize('NFC'))))).toEqual([])
    const isOfPage = (line: string): boolean => / Page \d+ of \d+$/.test(line) || line.includes('…')
    const text = lines.filter((line) => !isOfPage(line)).join('')
    expect(text.replaceAll(' ', '')).toContain(longName.replaceAll(' ', ''))
    expect(text).toContain('exact text')
    const html = (await readContent(report_id, 'html')).text
    expect(html).toContain('Ali [U+202E]gnp.exe')
    expect(html).not.toContain('\u202e')
    expect(JSON.stringify((await readContent(report_id, 'json')).json)).toContain('Ali \u202egnp.exe')
  })

  test('that cannot be made of the content do not take the other files away', async () => {
    const assets_dir = copyAssets('refused')
    fs.appendFileSync(path.join(assets_dir, 'reports/report.typ'), '\n#panic("no page")\n')
    const { job, report, report_id } = await withPrinting({ assets_dir }, () =>
      make({ template: 'programme-overview' }),
    )
    expect([job['state'], report.state]).toEqual(['succeeded', 'ready'])
    expect(report.failure).toMatch(/^No PDF file was made: .*/)
    expect(report.files.map(({ format }: { format: string }) => format)).toEqual(['csv', 'html', 'json'])
    const absent = await readContent(report_id, 'pdf')
    expect([absent.json.code, absent.json.detail]).toEqual(['format_unavailable', report.failure])
  })

  test('are verified against engine, fonts and template, each of which is named', async () => {
    const { report_id } = await make({ template: 'programme-overview', formats: ['html', 'pdf'] })
    const layout = copyAssets('layout')
    fs.appendFileSync(path.join(layout, 'reports/report.typ'), '\n#pagebreak()\n')
    const font = copyAssets('font')
    fs.copyFileSync(path.join(font, 'fonts/NotoSans-Bold.ttf'), path.join(font, 'fonts/NotoSans-Regular.ttf'))
    const cases: [Partial<PrintingSettings>, object, object][] = [
      [{}, { is_identical: true, differs: [] }, { is_identical: true, differs: [] }],
      [
        { assets_dir: layout },
        { is_identical: true, differs: ['template'] },
        { is_identical: false, differs: ['template'] },
      ],
      [{ assets_dir: font }, { is_identical: true, differs: [] }, { is_identical: false, differs: ['fonts'] }],
      [
        { package: createOtherEngine() },
        { is_identical: true, differs: [] },
        { is_identical: true, differs: ['engine'] },
      ],
      [
        { package: 'missing' },
        { is_identical: true },
        { is_identical: false, made_sha256: null, differs: ['engine', 'missing'] },
      ],
    ]
    for (const [settings, html, pdf] of cases)
      await withPrinting(settings, async () => {
        const { result } = await t.runToEnd(await t.make(`POST /reports/${report_id}/verify`))
        expect((result as { files: object[] }).files).toMatchObject([html, pdf])
      })
  })
})
