/** What the database refuses of investigations, whatever the code does: each rule is broken once. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope, requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import { createImposedRestriction } from '#modules/restrictions/index.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { forge, misuse } from '#test/support/own-trigger.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { toReopenedKey } from './lifecycle/acts.ts'
import { type OpenRequest, openInvestigation } from './opening/open-investigation.ts'
import { insertNote } from './queries.ts'
import { insertSeal } from './seal/queries.ts'

let w: TestApp
let t: ExampleTenant
let subject_id: string
const [ANNA, BEN] = [`user:${uuidv7()}`, `user:${uuidv7()}`] as const

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  subject_id = await newSubject()
})
afterAll(() => w.close())

const newSubject = async (): Promise<string> =>
  (await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })).subject_id

const settings = { title: null, when: null, reuse_days: null, max_cost: null } as const
const toPlaybook = (key: string): playbookModel.LoadedPlaybook => ({
  key,
  origin: 'own',
  version: 1,
  content_hash: 'a'.repeat(64),
  content: {
    title: 'A playbook',
    description: null,
    subject_types: ['person'],
    typologies: [],
    facts: [],
    clocks: [{ key: 'first-action', hours: 8 }],
    steps: [
      {
        ...settings,
        key: 'funds',
        kind: 'task',
        with: { title: 'Source of funds', role: 'analyst' },
        needs: [],
        required: true,
      },
    ],
    outcomes: [{ code: 'INV_NO_SUSPICION', needs: [], when: null }],
  },
})

const asPerson = <T>(actor: string, body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.runtime.database.write(fullScope(t.tenant_id, actor), body)
/** With the sight of a person who was granted nothing. */
const asOutsider = <T>(body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.runtime.database.write(requestScope({ tenant_id: t.tenant_id, principal: `user:${uuidv7()}` }), body)

const toRequest = (more: Partial<OpenRequest> = {}): OpenRequest => ({
  subject: { subject_id },
  playbook: toPlaybook('kyc'),
  title: 'Look into the payments',
  priority: 'medium',
  origin: 'request',
  origin_reference: null,
  ...more,
})
const open = (more: Partial<OpenRequest> = {}, actor = ANNA) =>
  asPerson(actor, (tx) => openInvestigation(w.kernel, tx, toRequest(more)))
const newCase = async () => {
  const { investigation_id } = await open({ playbook: toPlaybook(`kyc-${uuidv7()}`) })
  return investigation_id
}

const change = (investigation_id: string, set: string, actor: string = ANNA) =>
  asPerson(actor, (tx) =>
    tx.run(`update app.investigation set ${set} where tenant_id = $1 and investigation_id = $2`, [
      tx.tenant_id,
      investigation_id,
    ]),
  )
const NEXT = 'revision = revision + 1'
const toProposal = (by: string) =>
  `state = 'proposed', proposed_by = '${by}', proposed_at = now(), proposed_outcome = 'INV_NO_SUSPICION', proposal_hash = repeat('b', 64), ${NEXT}`
const toClosing = (by: string) =>
  `state = 'closed', closed_by = '${by}', closed_at = now(), outcome = proposed_outcome, seal_no = seal_no + 1, ${NEXT}`
const NO_PROPOSAL = 'proposed_by = null, proposed_at = null, proposed_outcome = null, proposal_hash = null'

const setStep = (investigation_id: string, set: string, actor: string = ANNA) =>
  asPerson(actor, (tx) =>
    tx.run(
      `update app.investigation_step set ${set}, revision = revision + 1 where tenant_id = $1 and investigation_id = $2 and step_key = 'funds'`,
      [tx.tenant_id, investigation_id],
    ),
  )
const settle = (investigation_id: string) =>
  asPerson(ANNA, async (tx) => {
    const by = [tx.tenant_id, investigation_id]
    const where = 'where tenant_id = $1 and investigation_id = $2'
    await tx.run(
      `update app.investigation_step set state = 'running', started_at = now(), revision = revision + 1 ${where}`,
      by,
    )
    await tx.run(
      `update app.investigation_step set state = 'succeeded', ended_at = now(), revision = revision + 1 ${where}`,
      by,
    )
    await tx.run(`update app.investigation set gathering = 'done' ${where}`, by)
  })
const seal = (investigation_id: string, seal_no: number) =>
  asPerson(BEN, (tx) =>
    insertSeal(tx, investigation_id, {
      seal_no,
      manifest: {},
      manifest_hash: 'c'.repeat(64),
      key_id: 'k',
      signature: 's',
      content: null,
    }),
  )
const addNote = (tx: Tx, investigation_id: string, revision: number | null = null) =>
  tx.run(
    `insert into app.investigation_note (tenant_id, note_id, investigation_id, revision, content, created_by) values ($1, $2, $3, $4, 'x', 'user:x')`,
    [tx.tenant_id, uuidv7(), investigation_id, revision],
  )
const proposed = async () => {
  const investigation_id = await newCase()
  await settle(investigation_id)
  await change(investigation_id, toProposal(ANNA))
  return investigation_id
}
const refuses = async (attempt: Promise<unknown>, code: string) =>
  expect(await attempt.then(() => 'done', toCode)).toBe(code)
const toCode = (error: {
  code?: string
  cause?: { code?: string; constraint?: string }
  constraint?: string
}): string => error.cause?.constraint ?? error.constraint ?? error.cause?.code ?? error.code ?? 'unknown'

describe('closing', () => {
  test('takes another person, a proposal, a seal and every required step', async () => {
    const early = await newCase()
    await change(early, `gathering = 'partial'`)
    await refuses(change(early, toProposal(ANNA)), 'PB002')
    await setStep(
      early,
      `state = 'waived', waived_by = '${ANNA}', waived_at = now(), waive_reason = 'Seen on paper', ended_at = now()`,
    )
    // Whoever proposes is the actor, and a person.
    await refuses(change(early, toProposal(BEN)), 'PB002')
    await refuses(change(early, toProposal('key:1'), 'key:1'), 'investigation_proposer_ck')
    await refuses(change(early, `${toClosing(BEN)}`, BEN), 'PB002')
    await change(early, toProposal(ANNA))

    const id = await proposed()
    await refuses(change(id, toClosing(BEN), BEN), 'PB002')
    await seal(id, 1)
    await refuses(change(id, toClosing(ANNA), ANNA), 'investigation_four_eyes_ck')
    await refuses(change(id, toClosing('operator:x'), 'operator:x'), 'investigation_four_eyes_ck')
    await refuses(change(id, toClosing(BEN), ANNA), 'PB002')
    await refuses(change(id, `${toClosing(BEN)}, proposal_hash = repeat('d', 64)`, BEN), 'PB002')
    await refuses(change(id, `${toClosing(BEN)}, proposed_by = 'user:somebody'`, BEN), 'PB002')
    await change(id, toClosing(BEN), BEN)
    for (const set of [
      `title = 'x', ${NEXT}`,
      `outcome = null`,
      `closed_by = 'user:x'`,
      `gathering = 'running'`,
      `state = 'merged', ${NEXT}`,
    ])
      await refuses(change(id, set), 'PB002')
    // Its content stays as it was sealed.
    await refuses(setStep(id, 'not_before = now()'), 'PB010')
    await refuses(seal(id, 2), 'PB010')
    await refuses(
      asPerson(ANNA, (tx) => addNote(tx, id)),
      'PB010',
    )
    const REOPENED = `state = 'open', closed_by = null, closed_at = null, outcome = null, ${NO_PROPOSAL}, ${NEXT}`
    await refuses(change(id, REOPENED, 'job:x'), 'PB002')
    await refuses(change(id, `gathering_problem = '{"code":"x"}'`), 'PB002')
    await change(id, REOPENED, BEN)
    await change(id, toProposal(BEN), BEN)
    await refuses(change(id, toClosing(ANNA)), 'PB002')
    await refuses(seal(id, 1), 'investigation_seal_pkey')
    await seal(id, 2)
    await change(id, toClosing(ANNA))
    const kinds = await asPerson(ANNA, (tx) =>
      tx.query<{ kind: string }>(
        `select kind from app.investigation_event where tenant_id = $1 and investigation_id = $2 and category = 'person' order by recorded_at`,
        [tx.tenant_id, id],
      ),
    )
    expect(kinds.map(({ kind }) => kind).filter((kind) => !kind.startsWith('step_'))).toEqual([
      'opened',
      'proposed',
      'closed',
      'reopened',
      'proposed',
      'closed',
    ])
  })

  test.for([
    ['a jump from open to closed', toClosing(BEN)],
    ['another subject', `subject_id = gen_random_uuid(), ${NEXT}`],
    ['another version of the playbook', `playbook_version = 2, ${NEXT}`],
    ['another restriction', `restriction_id = gen_random_uuid(), ${NEXT}`],
    ['a change without a revision', `title = 'x'`],
    ['a seal number without closing', `seal_no = 1, ${NEXT}`],
    ['leaving the one that everybody joins without a restriction', 'joins = false'],
    [
      'a merge while it is gathering',
      `gathering = 'running', state = 'merged', merged_into = gen_random_uuid(), merged_by = '${BEN}', merged_at = now(), ${NEXT}`,
    ],
    [
      'a merge by somebody else',
      `gathering = 'done', state = 'merged', merged_into = gen_random_uuid(), merged_by = '${ANNA}', merged_at = now(), ${NEXT}`,
    ],
  ])('refuses %s', async ([, set]) => {
    const id = await newCase()
    await refuses(change(id, set as string, BEN), 'PB002')
  })

  test('refuses to remove anything, and to change what is append-only', async () => {
    const id = await newCase()
    const append = ['investigation_event', 'investigation_seal', 'investigation_note', 'investigation_narrative']
    for (const table of ['investigation', 'investigation_step', 'investigation_subject', ...append])
      await refuses(
        asPerson(ANNA, (tx) =>
          tx.run(`delete from app.${table} where tenant_id = $1 and investigation_id = $2`, [tx.tenant_id, id]),
        ),
        '42501',
      )
    // The timeline is the database's: only what no row shows is written by the service.
    const event = `insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, recorded_by)
      values ($1, $2, $3, $4, 'person', $5)`
    const tell = (kind: string, by: string = ANNA) =>
      asPerson(ANNA, (tx) => tx.run(event, [tx.tenant_id, uuidv7(), id, kind, by]))
    await refuses(tell('closed'), 'PB002')
    await refuses(tell('assigned', BEN), 'PB002')
    await tell('assigned')
    for (const table of append)
      await refuses(
        asPerson(ANNA, (tx) =>
          tx.run(`update app.${table} set restriction_id = null where tenant_id = $1`, [tx.tenant_id]),
        ),
        '42501',
      )
  })
})

describe('events', () => {
  test('say what this transaction has changed, also when triggers of others write them', async () => {
    const id = await newCase()
    await settle(id)
    await asPerson(ANNA, (tx) =>
      insertNote(tx, { note_id: uuidv7(), investigation_id: id, revision: null, content: Buffer.from('x') }),
    )
    await change(id, toProposal(ANNA))
    const app = new pg.Client(w.clone.app)
    await app.connect()
    const settings = { 'app.tenant_id': t.tenant_id, 'app.actor': ANNA, 'app.sight': 'all', 'app.restoring': 'on' }
    for (const [name, value] of Object.entries(settings))
      await app.query('select set_config($1, $2, false)', [name, value])
    const known = await app.query<{ kind: string; data: object; revision: string | null }>(
      'select kind, data, revision from app.investigation_event where investigation_id = $1',
      [id],
    )
    const toInsert = (kind: string, by = ANNA, revision: string | null = '2', data: object = {}) =>
      `insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, revision, data, recorded_by)
        values ('${t.tenant_id}', gen_random_uuid(), '${id}', '${kind}', 'person', ${revision}, '${JSON.stringify(data)}', '${by}')`
    const kinds = [
      ...['opened', 'proposed', 'closed', 'reopened', 'withdrawn', 'returned', 'merged', 'ended', 'waiting', 'resumed'],
      ...['changed', 'gathering', 'restricted', 'step_added', 'step_succeeded', 'step_invented', 'noted', 'task_added'],
      ...['task_changed', 'information_requested', 'information_ended', 'narrative_written', 'subject_added'],
      ...['alert_linked', 'evidence_attached', 'evidence_detached', 'other_case_requested', 'answer_entered'],
    ]
    const codes = new Map<string, string | null>()
    for (const kind of kinds) codes.set(kind, await forge(app, toInsert(kind)))
    // What is true, but was not changed now.
    for (const { kind, data, revision } of known.rows)
      codes.set(`${kind} again`, await forge(app, toInsert(kind, ANNA, revision, data)))
    // In the transaction that changes the case: only its event, only as its actor, and only once.
    const back = `update app.investigation set state = 'open', ${NO_PROPOSAL}, ${NEXT} where investigation_id = '${id}'`
    for (const [kind, by] of [
      ['withdrawn', ANNA],
      ['returned', ANNA],
      ['reopened', ANNA],
      ['closed', ANNA],
      ['changed', BEN],
    ] as const)
      codes.set(`${kind} after the change`, await forge(app, `${back}; ${toInsert(kind, by, '3')}`))
    // A tenant that does not exist would look like one that is being restored.
    const elsewhere = `set_config('app.tenant_id', case n when 2 then '${uuidv7()}' else '${t.tenant_id}' end, true)`
    codes.set(
      'second row',
      await forge(
        app,
        `insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, recorded_by)
           select '${t.tenant_id}', gen_random_uuid(), '${id}', case n when 2 then 'closed' else 'assigned' end, 'person', '${ANNA}'
             from generate_series(1, 2) n where ${elsewhere} is not null`,
      ),
    )
    await app.query(`select set_config('app.tenant_id', $1, false)`, [t.tenant_id])
    // Our own trigger on a table that the caller made.
    codes.set(
      'misused',
      await misuse(app, {
        ...{ like: 'investigation_note', with: 'record_investigation_row' },
        row: `select * from app.investigation_note where investigation_id = '${id}'`,
      }),
    )
    await app.end()
    expect([...codes].filter(([, code]) => code !== 'PB002' && code !== '23502')).toEqual([])
    expect(codes.size).toBeGreaterThan(kinds.length + 5)
  })
})

describe('steps', () => {
  test.for([
    ['succeed without having run', `state = 'succeeded', started_at = now(), ended_at = now()`, 'PB002'],
    ['another kind', `kind = 'provider'`, 'PB002'],
    ['no longer required', 'is_required = false', 'PB002'],
    [
      'waived by somebody else',
      `state = 'waived', waived_by = '${BEN}', waived_at = now(), waive_reason = 'x', ended_at = now()`,
      'PB002',
    ],
    [
      'waived without a reason',
      `state = 'waived', waived_by = '${ANNA}', waived_at = now(), ended_at = now()`,
      'investigation_step_waived_ck',
    ],
    [
      'required and left out for a missing credential',
      `state = 'skipped', problem = '{"code":"credential_missing"}', ended_at = now()`,
      'investigation_step_skipped_ck',
    ],
    ['two attempts at once', `state = 'running', started_at = now(), attempt = attempt + 2`, 'PB002'],
  ])('refuse to be %s', async ([, set, code]) => {
    await refuses(setStep(await newCase(), set as string), code as string)
  })
})

describe('joining', () => {
  test('twenty requests at once open one case', async () => {
    const subject = { subject_id: await newSubject() }
    const opened = await Promise.all(Array.from({ length: 20 }, () => open({ subject })))
    expect(new Set(opened.map(({ investigation_id }) => investigation_id)).size).toBe(1)
    expect(opened.filter(({ joined }) => !joined)).toHaveLength(1)
  })

  test('leaves restricted cases out, and tells the people of the case and nobody else', async () => {
    const subject = { subject_id: await newSubject() }
    const list = (id: string) =>
      asPerson(ANNA, (tx) =>
        tx.query<{ data: object }>(
          `select data from app.investigation_event where tenant_id = $1 and investigation_id = $2 and kind = 'other_case_requested'`,
          [tx.tenant_id, id],
        ),
      )
    const first = await open({ subject })
    const impose = (restriction_id: string) =>
      asPerson(ANNA, (tx) =>
        tx.run(
          `update app.restriction set is_in_force = true, imposed_at = now(), imposed_by = 'user:x' where tenant_id = $1 and restriction_id = $2`,
          [tx.tenant_id, restriction_id],
        ),
      )
    await impose(first.restriction_id)
    // As if the first did not exist, for people without access and with it.
    const second = await asOutsider((tx) => openInvestigation(w.kernel, tx, toRequest({ subject })))
    expect(second.joined).toBe(false)
    expect(await open({ subject })).toMatchObject({ joined: true, investigation_id: second.investigation_id })
    expect(await list(first.investigation_id)).toEqual([
      { data: { investigation_id: second.investigation_id } },
      { data: { investigation_id: second.investigation_id } },
    ])
    const restriction_id = await asPerson(ANNA, (tx) => createImposedRestriction(tx, 'Case', ANNA.slice(5)))
    const third = await open({ subject, restriction: { restriction_id, is_in_force: true } })
    expect(third.joined).toBe(false)
    // A case that nobody may know of tells nobody.
    expect(await list(first.investigation_id)).toHaveLength(2)
    await refuses(change(first.investigation_id, 'joins = true'), 'PB002')
    // Lifting it leaves it apart: another case may be open.
    await asPerson(ANNA, (tx) =>
      tx.run(
        `update app.restriction set is_in_force = false, lifted_at = now(), lifted_by = 'user:x', lift_reason = 'x' where tenant_id = $1 and restriction_id = $2`,
        [tx.tenant_id, first.restriction_id],
      ),
    )
    expect(await open({ subject })).toMatchObject({ joined: true, investigation_id: second.investigation_id })
  })

  test('waits for whoever imposes the restriction of a new case', async () => {
    const subject = { subject_id: await newSubject() }
    const { restriction_id } = await open({ subject, playbook: toPlaybook('other') })
    let opened: Promise<unknown> = Promise.resolve()
    await asPerson(ANNA, async (tx) => {
      await tx.run(
        `update app.restriction set is_in_force = true, imposed_at = now(), imposed_by = 'user:x' where tenant_id = $1 and restriction_id = $2`,
        [tx.tenant_id, restriction_id],
      )
      opened = open({ subject, restriction: { restriction_id, is_in_force: false } })
      // Until the other one waits for the lock of the restriction.
      await expect
        .poll(async () => (await tx.find<{ n: number }>(`select count(*) as n from pg_locks where not granted`))?.n, {
          timeout: 10_000,
        })
        .toBeGreaterThan(0)
    })
    const { investigation_id } = (await opened) as { investigation_id: string }
    const row = await asPerson(ANNA, (tx) =>
      tx.find(`select joins from app.investigation where tenant_id = $1 and investigation_id = $2`, [
        tx.tenant_id,
        investigation_id,
      ]),
    )
    expect(row).toEqual({ joins: false })
  })

  test('a reference is random and says nothing about the number of cases', async () => {
    const rows = await asPerson(ANNA, (tx) =>
      tx.query<{ reference: string }>('select reference from app.investigation where tenant_id = $1', [tx.tenant_id]),
    )
    for (const { reference } of rows) expect(reference).toMatch(/^INV-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(new Set(rows.map(({ reference }) => reference)).size).toBe(rows.length)
  })
})

test('what waits for the end of a transaction happens once it is committed, and not before', async () => {
  const seen: string[] = []
  const write = (name: string, end: (tx: Tx) => Promise<unknown>) =>
    asPerson(ANNA, async (tx) => {
      tx.onCommit(() => seen.push(name))
      await tx.query('select 1')
      expect(seen).not.toContain(name)
      await end(tx)
    }).catch(() => {})
  await write('thrown', () => Promise.reject(new Error('no')))
  await write('refused', async (tx) =>
    tx.defer(`insert into app.investigation (tenant_id) values ($1)`, [tx.tenant_id]),
  )
  await write('kept', async () => {})
  expect(seen).toEqual(['kept'])
})

test('clocks of a case that is opened again have keys within the limit, each its own', () => {
  const long = 'c'.repeat(100)
  const keys = ['first-action', long, long].map((key, at) => toReopenedKey(key, at, 12))
  expect(keys.map(({ length }) => length)).toEqual([15, 100, 100])
  expect([keys[0], new Set(keys).size]).toEqual(['first-action-12', 3])
})

test('what belongs to a case has its restriction, and nobody without access adds to it', async () => {
  const { investigation_id, restriction_id } = await open({ subject: { subject_id: await newSubject() } })
  const rows = await asPerson(ANNA, (tx) =>
    tx.query(
      `select distinct restriction_id from (
         select restriction_id from app.investigation_step where tenant_id = $1 and investigation_id = $2
         union all select restriction_id from app.investigation_event where tenant_id = $1 and investigation_id = $2
         union all select restriction_id from app.investigation_subject where tenant_id = $1 and investigation_id = $2
         union all select restriction_id from app.work_item where tenant_id = $1 and object_id = $2
         union all select restriction_id from app.work_clock where tenant_id = $1 and object_id = $2
         union all select restriction_id from app.event where tenant_id = $1 and object_id = $2::text
         union all select restriction_id from app.job where tenant_id = $1 and resource like '%' || $2) r`,
      [t.tenant_id, investigation_id],
    ),
  )
  expect(rows).toEqual([{ restriction_id }])
  await asPerson(ANNA, (tx) =>
    tx.run(
      `update app.restriction set is_in_force = true, imposed_at = now(), imposed_by = 'user:x' where tenant_id = $1 and restriction_id = $2`,
      [tx.tenant_id, restriction_id],
    ),
  )
  await refuses(
    asOutsider((tx) => addNote(tx, investigation_id)),
    'PB004',
  )
})

describe('each guard is the one that refuses', () => {
  /** What the app may do in a database where one guard is missing; nothing of it stays. */
  async function attempt(without: string | null, actor: string, act: string): Promise<string> {
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    try {
      await owner.query('begin')
      if (without !== null) await owner.query(without)
      await owner.query('set local role app')
      await owner.query(
        `select set_config('app.tenant_id', $1, true), set_config('app.actor', $2, true), set_config('app.sight', 'all', true)`,
        [t.tenant_id, actor],
      )
      await owner.query(act)
      return 'done'
    } catch (error) {
      return toCode(error as Parameters<typeof toCode>[0])
    } finally {
      await owner.end()
    }
  }
  const update = (table: string, id: string, set: string) =>
    `update app.${table} set ${set} where tenant_id = '${t.tenant_id}' and investigation_id = '${id}'`

  test('of closing, seals, joining and steps', async () => {
    const sealed = await proposed()
    await seal(sealed, 1)
    const [unsealed, fresh, closed] = [await proposed(), await newCase(), await proposed()]
    const [settled, given, waived] = [await newCase(), await newCase(), await newCase()]
    await settle(settled)
    const untried = await newCase()
    for (const id of [given, waived]) {
      await setStep(id, `state = 'running', started_at = now()`)
      await setStep(id, `state = 'failed', ended_at = now(), problem = '{"code": "provider_fault"}'`)
    }
    for (const id of [given, waived, untried]) {
      const by = `state = 'waived', waived_by = '${BEN}', waived_at = now(), waive_reason = 'Gone', ended_at = now()`
      await setStep(id, by, BEN)
      await change(id, `gathering = 'done'`)
    }
    await asPerson(ANNA, async (tx) => {
      await addNote(tx, untried, 2)
      await addNote(tx, waived, 2)
      await tx.run(
        `update app.investigation set ${toProposal(ANNA)}, proposed_without = '{funds}' where tenant_id = $1 and investigation_id = $2`,
        [tx.tenant_id, waived],
      )
    })
    await seal(waived, 1)
    await seal(closed, 1)
    await change(closed, toClosing(BEN), BEN)
    const copied = `insert into app.investigation (tenant_id, investigation_id, reference, subject_id, playbook_key, playbook_origin, playbook_version,
        playbook_hash, title, priority, origin, restriction_id, created_by, updated_by)
      select tenant_id, gen_random_uuid(), 'INV-0000-0000', subject_id, playbook_key, playbook_origin, playbook_version, playbook_hash, title,
        priority, origin, restriction_id, created_by, updated_by from app.investigation where investigation_id = '${fresh}'`
    const cases: readonly [guard: string, refusal: string, actor: string, act: string][] = [
      [
        'alter table app.investigation drop constraint investigation_four_eyes_ck',
        'investigation_four_eyes_ck',
        ANNA,
        update('investigation', sealed, toClosing(ANNA)),
      ],
      [
        'drop trigger investigation_change on app.investigation',
        'PB002',
        BEN,
        update('investigation', unsealed, toClosing(BEN)),
      ],
      ['drop index app.investigation_joined_key', 'investigation_joined_key', ANNA, copied],
      [
        'drop trigger investigation_step_keep on app.investigation_step',
        'PB002',
        ANNA,
        update(
          'investigation_step',
          fresh,
          `state = 'succeeded', started_at = now(), ended_at = now(), revision = revision + 1`,
        ),
      ],
      [
        'drop trigger investigation_step_open on app.investigation_step',
        'PB010',
        ANNA,
        update('investigation_step', sealed, 'not_before = now(), revision = revision + 1'),
      ],
      [
        'drop trigger investigation_note_open on app.investigation_note',
        'PB010',
        ANNA,
        `insert into app.investigation_note (tenant_id, note_id, investigation_id, content, created_by)
          values ('${t.tenant_id}', gen_random_uuid(), '${closed}', 'x', '${ANNA}')`,
      ],
      [
        'drop trigger investigation_rules on app.investigation',
        'PB002',
        ANNA,
        update('investigation', fresh, 'joins = false'),
      ],
      [
        'drop trigger investigation_event_keep on app.investigation_event',
        'PB002',
        ANNA,
        `insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, recorded_by)
          values ('${t.tenant_id}', gen_random_uuid(), '${fresh}', 'closed', 'person', '${ANNA}')`,
      ],
      [
        'drop trigger investigation_evidence_open on app.evidence_item',
        'PB010',
        ANNA,
        `insert into app.evidence_item (tenant_id, evidence_id, restriction_id, owner_kind, owner_id, kind, title, reference, source, content_hash, obtained_at, added_by)
          select tenant_id, gen_random_uuid(), restriction_id, 'investigation', investigation_id, 'external_reference', 'x', 'x', 'x', repeat('a', 64), now(), '${ANNA}'
            from app.investigation where investigation_id = '${unsealed}'`,
      ],
      // Refused: without a step that was not waived or not tried, without a reason, and closed by the person who waived it.
      [
        'drop trigger investigation_without on app.investigation',
        'PB002',
        ANNA,
        update('investigation', untried, `${toProposal(ANNA)}, proposed_without = '{funds}'`),
      ],
      [
        'drop trigger investigation_without on app.investigation',
        'PB002',
        ANNA,
        update('investigation', settled, `${toProposal(ANNA)}, proposed_without = '{funds}'`),
      ],
      [
        'drop trigger investigation_without on app.investigation',
        'PB002',
        ANNA,
        update('investigation', given, `${toProposal(ANNA)}, proposed_without = '{funds}'`),
      ],
      [
        'drop trigger investigation_without on app.investigation',
        'investigation_waiver_four_eyes',
        BEN,
        update('investigation', waived, toClosing(BEN)),
      ],
      // Only a replayed erasure ends a case without an outcome.
      [
        'drop trigger investigation_change on app.investigation',
        'PB002',
        ANNA,
        update('investigation', fresh, `state = 'ended', ${NEXT}`),
      ],
      [
        // Neither the privilege nor the trigger alone: both have to be gone.
        'grant update on app.investigation_seal to app; drop trigger investigation_seal_append on app.investigation_seal',
        '42501',
        ANNA,
        update('investigation_seal', sealed, `manifest = '{"a":1}'`),
      ],
    ]
    for (const [guard, refusal, actor, act] of cases)
      expect([guard, await attempt(null, actor, act), await attempt(guard, actor, act)]).toEqual([
        guard,
        refusal,
        'done',
      ])
  })
})
