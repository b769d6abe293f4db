/** Gathering with a real worker and a provider that counts what it receives. */
import { describe, expect, test } from 'vitest'
import { examinePack } from '#app/cli/verify-pack.ts'
import { toName } from '#kernel/auth/actor-names.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createReportFormat } from '#modules/reports/report-format.ts'
import { readArchive } from '#plugin/read-archive.ts'
import { createRegistryPayload, respondFromRegistry } from '#test/support/counting-provider.ts'
import { latch, waitUntil } from '#test/support/job-test-app.ts'
import { createPluginMatrix } from '#test/support/plugin-matrix.ts'
import { answer, calls, owner, provider, setUpProviderCalls, t, w } from '#test/support/provider-call-suite.ts'
import { arrangeReport } from '../report/arrange-case.ts'
import { collectCase } from '../report/collect-case.ts'
import { deadWorkerScan } from './dead-workers.ts'

setUpProviderCalls()

const once = { safe: false }
const matrix = { key: 'rate', kind: 'evaluation', with: { matrix: 'customer-risk-person' } }
const task = (key: string, more: object = {}) => ({
  key,
  kind: 'task',
  with: { title: 'Look at it', role: 'analyst' },
  ...more,
})
/** Asks the provider that was connected last. */
const ask = (key: string, more: object = {}) => ({
  key,
  kind: 'provider',
  with: { provider: calls.provider_key, capability: 'company.lookup', input: { number: { fact: 'number' } } },
  required: true,
  ...more,
})

async function publish(steps: readonly object[]): Promise<string> {
  const playbook_key = `gathered-${uuidv7().slice(-12)}`
  const definition = {
    title: 'Gathered',
    subject_types: ['person', 'company'],
    facts: [{ name: 'number', title: 'Number', type: 'string' }],
    steps,
    outcomes: ['INV_NO_SUSPICION'],
  }
  await t.make('POST /playbooks', { body: { playbook_key, title: 'Gathered', definition } })
  await t.make(`POST /playbooks/${playbook_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /playbooks/${playbook_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return playbook_key
}

const newSubject = async (number = '00000006'): Promise<string> =>
  (await t.make('POST /subjects', { body: { subject_type: 'company', name: 'Example Ltd', attributes: { number } } }))
    .subject_id

const send = async (at: string, body?: object) =>
  w.call(at, { token: await t.token(), ...(body === undefined ? {} : { body }) })
const open = async (playbook_key: string, more: object = {}) =>
  (await t.make('POST /investigations', { body: { subject_id: await newSubject(), playbook_key, ...more } })) as {
    investigation_id: string
    job_id: string
  }
const read = (id: string) => t.make(`GET /investigations/${id}`)
const states = (seen: { steps: { step_key: string; state: string }[] }) =>
  Object.fromEntries(seen.steps.map(({ step_key, state }) => [step_key, state]))
/** The case once its job has ended. */
async function gathered({ investigation_id, job_id }: { investigation_id: string; job_id: string }) {
  const job = await calls.ended(job_id)
  return { job, seen: await read(investigation_id) }
}
/** Runs the job, ending every wait at once. */
async function gatherWithoutWaiting(opened: { investigation_id: string; job_id: string }) {
  const ending = setInterval(
    () =>
      void owner.query(
        `update app.provider_state set open_until = null, failures = 0;
         update app.investigation_step set not_before = now(), revision = revision + 1 where state = 'waiting' and not_before > now()`,
      ),
    20,
  )
  const job = await calls.endWaits(opened.job_id).finally(() => clearInterval(ending))
  return { job, seen: await read(opened.investigation_id) }
}

describe('steps', () => {
  test('run as their needs are met, four at once, and end with evidence, cost and the verdict of the contract', async () => {
    await calls.connect()
    const free = latch()
    let most = 0
    let now = 0
    provider.respond = (request) => {
      most = Math.max(most, ++now)
      if (most === 4) free.open()
      return { ...respondFromRegistry(request), after: free.opened.then(() => now--) }
    }
    const keys = ['a', 'b', 'c', 'd', 'e']
    const playbook = await publish([
      ...keys.map((key) => ask(key)),
      { ...ask('other'), when: { subject_type: '"person"' } },
      task('look', { needs: keys, required: true }),
      task('after', { needs: ['look'] }),
    ])
    const opened = await open(playbook)
    w.startRunner(2)
    const { job, seen } = await gathered(opened)
    expect(most).toBe(4)
    expect(job).toMatchObject({ state: 'succeeded', result: { gathering: 'partial', ended: 6, total: 8 } })
    expect(states(seen)).toEqual({
      ...Object.fromEntries(keys.map((key) => [key, 'succeeded'])),
      other: 'skipped',
      look: 'waiting',
      after: 'pending',
    })
    expect(seen.gathering).toBe('partial')
    const [first] = seen.steps
    expect(first).toMatchObject({
      attempt: 1,
      cost: { amount: '0.400000', currency: 'EUR' },
      contract_result: { contract_key: 'company-registry', is_admitted: true, answer: 'found' },
      result: { kind: 'provider_call', id: first.call_id },
      problem: null,
    })
    expect(seen.counts).toMatchObject({ evidence: 5, tasks_open: 1 })
    const evidence = await t.make(`GET /evidence/${first.evidence_id}`)
    expect(evidence).toMatchObject({ kind: 'provider_call', object_id: first.call_id, owner_id: seen.investigation_id })
    expect(provider.requests).toHaveLength(5)
    const { items } = await t.make(`GET /investigations/${seen.investigation_id}/timeline?limit=100`)
    const kinds = items.map(({ kind }: { kind: string }) => kind)
    expect(kinds.filter((kind: string) => kind === 'step_succeeded')).toHaveLength(5)
    expect(kinds.filter((kind: string) => kind === 'evidence_attached')).toHaveLength(5)
  })

  test('decide on what earlier steps found, and fail with what is missing', async () => {
    await calls.connect()
    const definition = {
      inputs: [
        {
          ...{ name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'countries' } },
          from: { contract_key: 'company-registry', fact: 'country' },
        },
      ],
      table: {
        hit_policy: 'first',
        columns: ['country'],
        outputs: [],
        rows: [{ key: 'home', when: ['"GB"'], then: [] }],
      },
      ...{ reason_code: 'TM_LARGE_CASH', reason: 'The company is at home.' },
    }
    await t.make('POST /rules', { body: { rule_key: 'company-home', title: 'Home', definition } })
    await t.make('POST /rules/company-home/versions/draft/publish', { body: {} })
    await t.make('POST /rules/company-home/activations', { body: { version: 1, reason: 'Reviewed' } })
    const opened = await open(
      await publish([
        ask('registry'),
        task('look', { needs: ['registry'] }),
        { key: 'home', kind: 'evaluation', with: { rule: 'company-home' }, needs: ['look'], required: true },
        { ...matrix, needs: ['registry'] },
      ]),
    )
    const { investigation_id } = opened
    w.startRunner(1)
    const { seen } = await gathered(opened)
    expect(states(seen)).toEqual({ registry: 'succeeded', look: 'waiting', home: 'pending', rate: 'failed' })
    const { problem } = seen.steps[3]
    expect(problem.code).toBe('inputs_refused')
    // Each input that is missing, not only how many.
    expect(problem.detail).toMatch(
      /^Nothing was decided\. There are \d+ faults\. .*Nationalities: this input is missing\./,
    )
    const { items } = await t.make(`GET /investigations/${investigation_id}/tasks`)
    await t.make(`PATCH /investigations/${investigation_id}/tasks/${items[0].task_id}`, {
      body: { state: 'done', expected_revision: items[0].revision },
    })
    const { gathering_job_id } = await read(investigation_id)
    const after = await gathered({ investigation_id, job_id: gathering_job_id })
    expect(after.seen.steps[2].problem).toBeNull()
    expect(states(after.seen)).toEqual({ registry: 'succeeded', look: 'succeeded', home: 'succeeded', rate: 'failed' })
    const { result, evidence_id } = after.seen.steps[2]
    expect(await t.make(`GET /evaluations/${result.id}`)).toMatchObject({
      outcome: { hit: true },
      evidence: [{ contract_key: 'company-registry', mode: 'live' }],
    })
    expect(await t.make(`GET /evidence/${evidence_id}`)).toMatchObject({ kind: 'evaluation', object_id: result.id })
  })

  test('begin again when a person asks, and go on after a task is waived', async () => {
    await calls.connect()
    answer(() => ({ body: { unexpected: true } }))
    const opened = await open(await publish([ask('registry'), task('look', { needs: ['registry'] })]))
    const { investigation_id } = opened
    w.startRunner(2)
    const { seen } = await gathered(opened)
    expect(states(seen)).toEqual({ registry: 'failed', look: 'pending' })
    expect(seen.steps[0]).toMatchObject({
      problem: { code: 'contract_violated' },
      contract_result: { is_admitted: false },
      evidence_id: null,
    })
    answer()
    const at = `/investigations/${investigation_id}/steps`
    const job = await t.make(`POST ${at}/registry/retry`)
    const again = await gathered({ investigation_id, job_id: job.job_id })
    expect(states(again.seen)).toEqual({ registry: 'succeeded', look: 'waiting' })
    expect(again.seen.steps[0]).toMatchObject({ attempt: 2, problem: null })
    expect(provider.requests).toHaveLength(2)
    expect((await send(`POST ${at}/registry/retry`)).json.code).toBe('transition_not_allowed')
    const added = await t.make(`POST ${at}`, {
      body: { step_key: 'second', kind: 'provider', title: 'Once more', with: ask('x').with, needs: ['look'] },
    })
    await calls.ended(added.job_id)
    expect((await read(investigation_id)).steps[2]).toMatchObject({ state: 'pending', origin: 'person' })
    const refused = await send(`POST ${at}`, { step_key: 'third', kind: 'task', title: 'Bad', with: {} })
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
    expect((await send(`POST ${at}/look/waive`, { reason: 'Seen elsewhere' })).json).toMatchObject({
      state: 'waived',
      waiver: { reason: 'Seen elsewhere' },
    })
    const { gathering_job_id } = await read(investigation_id)
    const last = await gathered({ investigation_id, job_id: gathering_job_id })
    expect([states(last.seen), last.seen.gathering]).toEqual([
      { registry: 'succeeded', look: 'waived', second: 'succeeded' },
      'done',
    ])
  })

  test('have the task that they had when they were waived', async () => {
    const opened = await open(await publish([task('look')]))
    const { investigation_id } = opened
    const at = `/investigations/${investigation_id}`
    w.startRunner(1)
    expect(states((await gathered(opened)).seen)).toEqual({ look: 'waiting' })
    const [{ task_id }] = (await t.make(`GET ${at}/tasks`)).items
    expect((await send(`POST ${at}/steps/look/waive`, { reason: 'Seen elsewhere' })).status).toBe(200)
    const { gathering_job_id } = await read(investigation_id)
    await gathered({ investigation_id, job_id: gathering_job_id })
    const { job_id } = await t.make(`POST ${at}/steps/look/retry`)
    expect(states((await gathered({ investigation_id, job_id })).seen)).toEqual({ look: 'waiting' })
    const { items } = await t.make(`GET ${at}/tasks`)
    expect(items).toMatchObject([{ task_id, state: 'open' }])
    const { revision } = items[0]
    await t.make(`PATCH ${at}/tasks/${task_id}`, { body: { state: 'done', expected_revision: revision } })
    expect(states(await read(investigation_id))).toEqual({ look: 'succeeded' })
  })
})

describe('a step that a person adds', () => {
  test('asks with values that the person gives, which are checked at once and shown', async () => {
    await calls.connect()
    const { investigation_id } = await open(await publish([task('look')]))
    const at = `POST /investigations/${investigation_id}/steps`
    const { provider_key } = calls
    const body = (settings: object) => ({
      ...{ step_key: 'extract', kind: 'provider', title: 'Extract' },
      with: { provider: provider_key, capability: 'company.lookup', ...settings },
    })
    const prohibited = { provider: 'prohibited-jurisdiction-check', capability: 'registry.lookup' }
    for (const [settings, keyword, pointer] of [
      [{ input: { number: { value: 'x'.repeat(1001) } } }, 'step_invalid', '#/with/input/number'],
      [{ input: { number: { value: '' } } }, 'input_invalid', '#/with/input/number/value'],
      [{ input: { number: { value: 6 } } }, 'input_invalid', '#/with/input/number/value'],
      [{ input: { number: { fact: 'lei' } } }, 'fact_undeclared', '#/with/input/number/fact'],
      [{ input: { number: { value: '6' }, name: { value: 'A' } } }, 'input_unknown', '#/with/input/name'],
      [prohibited, 'input_missing', '#/with/input/key'],
    ] as const) {
      const { status, json } = await send(at, body(settings))
      expect([status, json]).toMatchObject([422, { code: 'validation_failed', errors: [{ keyword, pointer }] }])
    }
    expect((await send(at, body({ provider: 'no-such' }))).status).toBe(409)
    const input = { number: { value: '00000007' } }
    const added = await t.make(at, { body: body({ input }) })
    w.startRunner(1)
    const { seen } = await gathered({ investigation_id, job_id: added.job_id })
    const step = seen.steps.find(({ step_key }: { step_key: string }) => step_key === 'extract')
    expect(step).toMatchObject({ state: 'succeeded', input, answer: 'found', run_ms: expect.any(Number), reason: null })
    const asked = await t.make(`GET /providers/calls/${step.call_id}/request`)
    expect(asked.input).toEqual({ number: '00000007' })
  })
})

describe('a credential that is missing', () => {
  test('refuses a case that a person opens, blocks a required step, leaves out an optional one, and goes on by retry', async () => {
    const credential_id = await calls.connect()
    const playbook = await publish([ask('registry'), ask('second', { required: false }), task('look')])
    const opened = await open(playbook)
    const { investigation_id } = opened
    await t.make(`POST /provider-credentials/${credential_id}/disable`, { body: { reason: 'leak' } })
    const refused = await send('POST /investigations', { subject_id: await newSubject(), playbook_key: playbook })
    expect([refused.status, refused.json.code]).toEqual([424, 'provider_credential_missing'])
    w.startRunner(2)
    const { seen } = await gathered(opened)
    expect(seen).toMatchObject({
      gathering: 'blocked',
      gathering_problem: {
        code: 'provider_credential_missing',
        steps: ['registry'],
        missing: [{ reason: 'disabled' }],
      },
    })
    expect(states(seen)).toEqual({ registry: 'pending', second: 'skipped', look: 'waiting' })
    expect(seen.steps[1].problem.code).toBe('provider_credential_missing')
    const retry = `POST /investigations/${investigation_id}/steps/registry/retry`
    expect((await send(retry)).status).toBe(424)
    await t.make(`POST /provider-credentials/${credential_id}/enable`, { body: { reason: 'settled' } })
    const again = await gathered({ investigation_id, job_id: (await t.make(retry)).job_id })
    expect(again.seen).toMatchObject({ gathering: 'partial', gathering_problem: null })
    expect(states(again.seen)).toEqual({ registry: 'succeeded', second: 'skipped', look: 'waiting' })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('a plugin that cannot run', () => {
  test('refuses what people ask for, blocks a required step, leaves out an optional one, and goes on by retry', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    const decide = (key: string, required: boolean) => ({
      ...{ key, kind: 'evaluation', with: { matrix: matrix_key }, required },
    })
    const playbook = await publish([decide('rate', true), decide('second', false), task('look')])
    const subject = { subject_type: 'company', name: 'Example Ltd', attributes: { country: 'AE' } }
    const newCountrySubject = async () => (await t.make('POST /subjects', { body: subject })).subject_id
    const opened = await open(playbook, { subject_id: await newCountrySubject() })
    const findDependent = async () => {
      const { items } = await t.make(`GET /plugins/${plugin_key}/dependents`)
      return items.find(({ kind }: { kind: string }) => kind === 'playbook')
    }
    const operations = expect.arrayContaining(['createInvestigation', 'retryInvestigationStep'])
    expect(await findDependent()).toMatchObject({ key: playbook, version: 1, runs: true, operations })
    await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Wrong scores' } })
    expect(await findDependent()).toMatchObject({ key: playbook, runs: false })

    const unavailable = { code: 'plugin_invalid', plugin_key, reasons: [{ code: 'disabled' }] }
    const expectRefused = async (at: string, body?: object) => {
      const { status, json } = await send(at, body)
      expect([at, status, json]).toMatchObject([at, 503, unavailable])
    }
    await expectRefused('POST /investigations', { subject_id: await newCountrySubject(), playbook_key: playbook })
    expect((await t.make(`GET /investigations?playbook_key=${playbook}`)).items).toHaveLength(1)
    const validated = await t.make(`POST /playbooks/${playbook}/versions/1/validate`)
    expect(validated).toMatchObject({
      ...{ valid: true, findings: [] },
      cannot_run: [
        { step: 'rate', is_required: true, plugin_key, reasons: [{ code: 'disabled' }] },
        { step: 'second', is_required: false, plugin_key },
      ],
    })

    const raised = { source: 'payment-monitor', dedup_key: 'plugin', title: 'Name resembles a listed party' }
    const subject_id = await newCountrySubject()
    const alert = await t.make('POST /alerts', { body: { ...raised, priority: 'medium', subject_id } })
    const escalation = { playbook_key: playbook, note: 'Look at it' }
    await t.make(`POST /alerts/${alert.alert_id}/escalate`, { body: escalation })
    const { items } = await t.make(`GET /investigations?subject_id=${subject_id}`)
    const escalated = await read(items[0].investigation_id)
    w.startRunner(2)
    const { seen } = await gathered(opened)
    const second = await gathered({ ...escalated, job_id: escalated.gathering_job_id })
    for (const blocked of [seen, second.seen]) {
      expect(blocked).toMatchObject({
        gathering: 'blocked',
        gathering_problem: {
          ...{ code: 'plugin_invalid', steps: ['rate'], missing: [] },
          plugins: [{ plugin_key, reasons: [{ code: 'disabled' }] }],
        },
      })
      expect(states(blocked)).toEqual({ rate: 'pending', second: 'skipped', look: 'waiting' })
    }
    expect(seen.steps[1]).toMatchObject({ run_ms: null, reason: { code: 'not_asked' } })
    const at = `POST /investigations/${opened.investigation_id}/steps`
    await expectRefused(`${at}/rate/retry`)
    const { key: step_key, required: is_required, ...by_hand } = decide('by-hand', true)
    await expectRefused(at, { step_key, title: 'Rate it', is_required, ...by_hand })
    await t.make(`POST /plugins/${plugin_key}/enable`, { body: { reason: 'Corrected' } })
    const { job_id } = await t.make(`${at}/rate/retry`)
    const again = await gathered({ ...opened, job_id })
    expect(again.seen).toMatchObject({ gathering: 'partial', gathering_problem: null })
    expect(states(again.seen)).toEqual({ rate: 'succeeded', second: 'skipped', look: 'waiting' })
  })
})

describe('a provider that is down', () => {
  test('is asked again without a person, and uses up no attempt of the job', async () => {
    await calls.connect()
    let failures = 12
    answer((request) => (failures-- > 0 ? { status: 503 } : respondFromRegistry(request)))
    const opened = await open(await publish([ask('registry')]))
    w.startRunner(1)
    const waiting = await calls.waiting(opened.job_id)
    expect(waiting.problem).toMatchObject({ code: 'dependency_unavailable' })
    const during = await read(opened.investigation_id)
    expect([during.gathering, during.steps[0].state, during.steps[0].not_before]).toEqual([
      'running',
      'waiting',
      expect.any(String),
    ])
    const { job, seen } = await gatherWithoutWaiting(opened)
    expect(job).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(states(seen)).toEqual({ registry: 'succeeded' })
    expect(provider.requests).toHaveLength(13)
    const { items } = await t.make(`GET /investigations/${seen.investigation_id}/timeline?limit=100`)
    const waits = items.filter(({ kind }: { kind: string }) => kind === 'step_waiting')
    expect(waits).toHaveLength(1)
  })
})

describe('an unknown outcome', () => {
  test('is never sent again by the service; a person calls again or enters the answer', async () => {
    await calls.connect(once)
    answer(() => ({ reset: true }))
    const opened = await open(await publish([ask('first'), ask('second')]))
    const { investigation_id } = opened
    w.startRunner(2)
    const { seen } = await gathered(opened)
    expect(states(seen)).toEqual({ first: 'indeterminate', second: 'indeterminate' })
    expect(seen.steps[0].problem.code).toBe('outcome_unknown')
    const at = `POST /investigations/${investigation_id}/steps`
    expect((await send(`${at}/first/retry`)).json.code).toBe('transition_not_allowed')
    await expect(
      w.kernel.transactions.write(fullScope(t.tenant_id, 'job:x'), (tx) =>
        tx.run(
          `update app.investigation_step set state = 'pending', ended_at = null, problem = null, revision = revision + 1
            where tenant_id = $1 and investigation_id = $2`,
          [t.tenant_id, investigation_id],
        ),
      ),
    ).rejects.toThrow(/settled by a person/)
    answer()
    const reason = 'The provider has no record of it'
    const called = await t.make(`${at}/first/settle`, { body: { action: 'call_again', reason } })
    await calls.ended(called.job_id)
    const content = JSON.stringify(createRegistryPayload('00000006'))
    const entered = { result: 'found', media_type: 'application/json', content }
    const settle = (answer: object) =>
      send(`${at}/second/settle`, { action: 'enter_answer', reason, answer: { ...entered, ...answer } })
    const wrong = await settle({ content: JSON.stringify({ ...createRegistryPayload('6'), result: { items: 7 } }) })
    expect([wrong.status, wrong.json]).toMatchObject([
      422,
      { code: 'validation_failed', errors: [{ pointer: '#/answer/content/result/items' }] },
    ])
    expect((await settle({ content: '{' })).json.errors).toMatchObject([{ pointer: '#/answer/content' }])
    expect((await settle({ is_unusable: true })).json.code).toBe('conflict')
    expect(states(await read(investigation_id))['second']).toBe('indeterminate')
    const settled = await t.make(`${at}/second/settle`, { body: { action: 'enter_answer', reason, answer: entered } })
    const last = await gathered({ investigation_id, job_id: settled.job_id })
    expect(states(last.seen)).toEqual({ first: 'succeeded', second: 'succeeded' })
    expect(last.seen).toMatchObject({ gathering: 'done', steps: [{ attempt: 2 }, { attempt: 1 }] })
    expect(provider.requests).toHaveLength(3)
    const { items } = await t.make(`GET /audit/events?operation=settleInvestigationStep`)
    expect(items).toHaveLength(2)

    // Whoever reads the case learns that a person entered the answer, who, and why.
    const author = { entered_by: items[0].actor, reason }
    const [asked, typed] = last.seen.steps
    expect([asked.entered, typed.entered]).toEqual([null, author])
    const evidence = (await t.make(`GET /evidence?owner_id=${investigation_id}`)).items
    const find = ({ evidence_id }: { evidence_id: string }) =>
      evidence.find((item: { evidence_id: string }) => item.evidence_id === evidence_id)
    expect([find(asked), find(typed)]).toMatchObject([
      { entered: null, source: `Provider ${calls.provider_key}` },
      { entered: author, source: `Entered by hand for provider ${calls.provider_key}` },
    ])
    const timeline = (await t.make(`GET /investigations/${investigation_id}/timeline?limit=200`)).items
    expect(timeline.filter(({ kind }: { kind: string }) => kind === 'answer_entered')).toMatchObject([
      {
        data: { step_key: 'second', call_id: typed.call_id, entered_by: author.entered_by },
        ...{ category: 'person', note: reason, note_state: 'readable' },
      },
    ])
    const path = `/investigations/${investigation_id}`
    const paragraphs = [{ kind: 'assessment', text: 'The company is registered.', cites: [] }]
    await t.make(`PUT ${path}/narrative`, { body: { paragraphs } })
    const { proposal } = await t.make(`POST ${path}/propose-outcome`, { body: { outcome: 'INV_NO_SUSPICION' } })
    const { token } = await w.person(t.tenant_id, ['compliance_officer'])
    const { proposal_hash } = proposal
    expect((await w.call(`POST ${path}/close`, { token, body: { proposal_hash } })).status).toBe(200)
    const { manifest } = await t.make(`GET ${path}/seal`)
    const isMarked = (rows: readonly object[]) => rows.map((row) => 'entered_by' in row).toSorted()
    expect([isMarked(manifest.steps), isMarked(manifest.evidence)]).toEqual([
      [false, true],
      [false, true],
    ])
    const { bytes } = await w.call(`GET ${path}/pack`, { token })
    expect((await examinePack(bytes, w.kernel.auditKeys.public_key)).faults).toEqual([])
    const archive = await readArchive(bytes, 1_000_000)
    for (const name of ['steps.json', 'evidence.json', 'timeline.json'])
      expect([name, 'files' in archive && `${archive.files.get(name)}`.split(reason).length]).toEqual([name, 2])
    const report = await w.kernel.transactions.read(fullScope(t.tenant_id, 'job:x'), (tx) =>
      collectCase(w.kernel, tx, investigation_id),
    )
    const text = JSON.stringify(arrangeReport(report, createReportFormat('en-GB', 'UTC')))
    const said = `entered by ${toName(report.names, author.entered_by)}, because: ${reason}`
    for (const part of [
      `Answer in place of a provider, ${said}: `,
      `answer ${said}; `,
      'Answer entered in place of the provider: ',
    ])
      expect([part, text.split(part).length]).toEqual([part, 2])
  })
})

describe('an answer that is young enough', () => {
  test('is used again with its date, and never by or from a restricted case', async () => {
    await calls.connect()
    const subject_id = await newSubject()
    const again = () => publish([ask('registry', { reuse_days: 30 })])
    w.startRunner(2)
    // Limits are shared with hidden calls; what everybody reads of them is not.
    const viewer = await w.token({ tenant_id: t.tenant_id, roles: ['viewer'] })
    const readStatus = () => w.call(`GET /providers/${calls.provider_key}/status`, { token: viewer })
    const before = (await readStatus()).json
    const hidden = await gathered(await open(await again(), { subject_id, is_restricted: true }))
    expect(states(hidden.seen)).toEqual({ registry: 'succeeded' })
    const status = await readStatus()
    expect(status.json).toEqual(before)
    const first = await gathered(await open(await again(), { subject_id }))
    expect(first.seen.steps[0].reused_from).toBeNull()
    expect(provider.requests).toHaveLength(2)
    const second = await gathered(await open(await again(), { subject_id }))
    const [asked] = first.seen.steps
    expect(second.seen.steps[0]).toMatchObject({ state: 'succeeded', cost: null })
    const { answer: answered } = await t.make(`GET /providers/calls/${asked.call_id}`)
    expect(second.seen.steps[0].reused_from).toBe(answered.answered_at)
    const item = await t.make(`GET /evidence/${second.seen.steps[0].evidence_id}`)
    expect(item.object_id).not.toBe(asked.call_id)
    expect(item.obtained_at).toBe(answered.answered_at)
    const restricted = await gathered(await open(await again(), { subject_id, is_restricted: true }))
    expect(restricted.seen.steps[0].reused_from).toBeNull()
    const other = await gathered(await open(await again(), { subject_id: await newSubject() }))
    expect(other.seen.steps[0].reused_from).toBeNull()
    expect(provider.requests).toHaveLength(4)
  })
})

describe('an answer that no live provider gave', () => {
  test('is marked in its step, its evidence, the case and the seal, and so is a decision that rests on it', async () => {
    const body = createRegistryPayload('00000006')
    const fixture = { capability: 'company.lookup', when: { number: '00000006' }, status: 200, body }
    await calls.connect({}, { fixtures: [fixture] })
    const mode = { mode: 'fixtures', reason: 'Rehearsal' }
    await t.make(`PUT /providers/${calls.provider_key}/mode`, { body: mode })
    const opened = await open(await publish([ask('registry'), task('look')]))
    w.startRunner(1)
    const { seen } = await gathered(opened)
    expect(states(seen)).toEqual({ registry: 'succeeded', look: 'waiting' })
    expect(provider.requests).toHaveLength(0)
    const [step] = seen.steps
    const evidence = await t.make(`GET /evidence/${step.evidence_id}`)
    expect([step.is_test, evidence.is_test, seen.is_test]).toEqual([true, true, true])
    const at = `/investigations/${opened.investigation_id}`
    const text = 'The register has the company.'
    const paragraphs = [{ kind: 'fact', text, cites: [step.evidence_id] }]
    await t.make(`PUT ${at}/narrative`, { body: { paragraphs } })
    const { proposal } = await t.make(`POST ${at}/propose-outcome`, { body: { outcome: 'INV_NO_SUSPICION' } })
    const officer = await w.person(t.tenant_id, ['compliance_officer'])
    const { proposal_hash } = proposal
    const closed = await w.call(`POST ${at}/close`, { token: officer.token, body: { proposal_hash } })
    expect([closed.status, closed.json.is_test]).toEqual([200, true])
    expect((await t.make(`GET ${at}/seal`)).manifest.is_test).toBe(true)
    // Who reads only a report of it learns it too.
    const investigation_id = opened.investigation_id
    const requests = [
      { template: 'investigation-pack', parameters: { investigation_id } },
      { template: 'subject-dossier', parameters: { subject_id: seen.subject.subject_id } },
    ]
    for (const request of requests) {
      const job = await t.make('POST /reports', { body: { ...request, formats: ['html'] } })
      await w.ended(t.tenant_id, job.job_id)
      const { text: html } = await w.call(`GET ${job.resource.replace('/api', '')}/content?format=html`, {
        token: officer.token,
      })
      expect(html).toMatch(/No live provider gave .*rests on a test\./)
    }
    // The service cannot leave the mark out, and nobody attaches the call elsewhere without it.
    const attached = { owner_kind: 'subject', owner_id: seen.subject.subject_id, kind: 'provider_call', title: 'Again' }
    const again = await t.make('POST /evidence', { body: { ...attached, object_id: step.call_id } })
    expect(again.is_test).toBe(true)
    await t.write((tx) =>
      tx.run(
        `update app.evidence_item set is_test = false, detached_at = now(), detached_by = $2, detach_reason = 'x' where evidence_id = $1`,
        [again.evidence_id, tx.actor],
      ),
    )
    expect((await t.make(`GET /evidence/${again.evidence_id}`)).is_test).toBe(true)
  })
})

describe('workers', () => {
  test('two at once, and one that died, send nothing twice and leave nothing running', async () => {
    await calls.connect(once)
    const held = latch()
    answer((request) => ({ ...respondFromRegistry(request), after: held.opened }))
    const playbook = await publish([ask('a'), ask('b'), ask('c')])
    const opened = await open(playbook)
    const first = w.startRunner(1)
    w.startRunner(1)
    await waitUntil('the provider is asked', () => provider.requests.length === 3)
    // As a worker leaves it that died: the lease has run out, and a scan gives its steps back.
    await owner.query(
      `update app.job set lease_until = now() - interval '1 s', state = 'queued', lease_token = null, run_at = now() + interval '1 h'
                        where job_id = $1`,
      [opened.job_id],
    )
    await scan()
    const during = await read(opened.investigation_id)
    expect(states(during)).toEqual({ a: 'pending', b: 'pending', c: 'pending' })
    held.open()
    await waitUntil('the answers are stored', async () => {
      const { rows } = await owner.query(
        'select 1 from app.provider_answer a join app.provider_call c using (tenant_id, call_id) where c.tenant_id = $1',
        [t.tenant_id],
      )
      return rows.length === 3
    })
    await first.stop(0)
    const { seen } = await gatherWithoutWaiting(opened)
    expect(states(seen)).toEqual({ a: 'succeeded', b: 'succeeded', c: 'succeeded' })
    expect(provider.requests).toHaveLength(3)
    expect(seen.steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 1, 1])
  })

  test('a case whose job was cancelled shows what is missing, and goes on by retry', async () => {
    await calls.connect()
    const opened = await open(await publish([ask('registry')]))
    await t.make(`POST /jobs/${opened.job_id}/cancel`)
    await scan()
    expect(await read(opened.investigation_id)).toMatchObject({
      gathering: 'partial',
      gathering_problem: { code: 'cancelled' },
      steps: [{ state: 'pending' }],
    })
    const { job_id } = await t.make(`POST /investigations/${opened.investigation_id}/steps/registry/retry`)
    w.startRunner(1)
    const { seen } = await gathered({ ...opened, job_id })
    expect([seen.gathering, states(seen)]).toEqual(['done', { registry: 'succeeded' }])
  })

  test('all steps that a cancelled job left begin together by one act, and not while they are gathered', async () => {
    await calls.connect()
    const opened = await open(await publish([ask('a'), ask('b'), ask('c', { needs: ['b'] })]))
    const retry = `POST /investigations/${opened.investigation_id}/steps/retry`
    expect((await send(retry)).json).toMatchObject({ code: 'transition_not_allowed', detail: 'Gathering is running.' })
    await t.make(`POST /jobs/${opened.job_id}/cancel`)
    await scan()
    const { job_id } = await t.make(retry)
    w.startRunner(1)
    const { seen } = await gathered({ ...opened, job_id })
    expect([seen.gathering, states(seen)]).toEqual(['done', { a: 'succeeded', b: 'succeeded', c: 'succeeded' }])
    expect((await send(retry)).json.detail).toBe('No step is left that was not begun.')
  })

  test('steps that waited for their provider when the job was cancelled go on, by a retry of any of them', async () => {
    await calls.connect()
    answer(() => ({ status: 503 }))
    const opened = await open(await publish([ask('a'), ask('b')]))
    const { investigation_id } = opened
    w.startRunner(1)
    await calls.waiting(opened.job_id)
    const retry = `POST /investigations/${investigation_id}/steps/b/retry`
    expect((await send(retry)).json.detail).toContain('waiting')
    await t.make(`POST /jobs/${opened.job_id}/cancel`)
    await scan()
    const left = await read(investigation_id)
    expect([left.gathering, left.gathering_problem.code]).toEqual(['partial', 'dependency_unavailable'])
    expect(states(left)).toEqual({ a: 'waiting', b: 'waiting' })
    answer()
    const { seen } = await gatherWithoutWaiting({ investigation_id, job_id: (await t.make(retry)).job_id })
    expect([seen.gathering, states(seen)]).toEqual(['done', { a: 'succeeded', b: 'succeeded' }])
    // A job that ended well is no problem of a case that somebody left as running.
    await owner.query(`update app.investigation set gathering = 'running' where investigation_id = $1`, [
      investigation_id,
    ])
    await scan()
    expect(await read(investigation_id)).toMatchObject({ gathering: 'done', gathering_problem: null })
  })
})

describe('a step that was left out', () => {
  test('begins when its condition applies, once for all who ask at a time, and keeps others from ending the case', async () => {
    const vip = { when: { segment: '"vip"' }, required: true }
    const playbook = await publish([task('pep', vip), task('look')])
    const subject = { subject_type: 'company', name: 'Example Ltd', segment: 'retail' }
    const { subject_id } = await t.make('POST /subjects', { body: subject })
    const opened = await open(playbook, { subject_id })
    w.startRunner(1)
    const { seen } = await gathered(opened)
    expect(states(seen)).toEqual({ pep: 'skipped', look: 'waiting' })
    const at = `/investigations/${opened.investigation_id}`
    const retry = () => send(`POST ${at}/steps/pep/retry`)
    expect((await retry()).json.detail).toContain('does not apply')
    await t.make(`PATCH /subjects/${subject_id}`, { body: { segment: 'vip' } })
    const refused = await send(`POST ${at}/propose-outcome`, { outcome: 'INV_NO_SUSPICION' })
    expect(refused.json.errors).toContainEqual(
      expect.objectContaining({ keyword: 'step_applies', pointer: '#/steps/pep' }),
    )
    const replies = await Promise.all([retry(), retry(), retry(), retry()])
    expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409, 409, 409])
    const { job_id } = replies.find(({ status }) => status === 202)?.json ?? {}
    expect(states((await gathered({ ...opened, job_id })).seen)).toEqual({ pep: 'waiting', look: 'waiting' })
    const settings = { kind: 'task', title: 'More', with: task('x').with }
    const added = await Promise.all(
      ['a', 'b', 'c', 'd'].map((step_key) => send(`POST ${at}/steps`, { ...settings, step_key })),
    )
    expect(added.map(({ status }) => status)).toEqual([202, 202, 202, 202])
  })
})

const scan = () => w.inTenant(t.tenant_id, async (tx) => void (await deadWorkerScan.run(w.kernel, tx)))
