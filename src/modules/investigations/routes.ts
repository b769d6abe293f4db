/** Investigations: open or join a case, list, read with everything that belongs to it, steps and timeline. */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { findApplicable, loadPlaybook } from '#modules/playbooks/index.ts'
import { createImposedRestriction } from '#modules/restrictions/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { workClocks } from '#modules/work/index.ts'
import { openNotes } from './case-notes.ts'
import { assertCase, assertOpen, readContent } from './lifecycle/case-content.ts'
import { getMainAction, listNextActions } from './lifecycle/guards.ts'
import { listOutcomes } from './lifecycle/outcomes.ts'
import { toWorkItem } from './model.ts'
import { expectAskable } from './opening/check-askable.ts'
import { assertLinkable } from './opening/linked-alerts.ts'
import { openInvestigation } from './opening/open-investigation.ts'
import {
  countOfficers,
  findInvestigation,
  type InvestigationRow,
  insertCaseAlert,
  listCaseAlerts,
  listInvestigations,
  listSteps,
  listTimeline,
} from './queries.ts'
import {
  Investigation,
  InvestigationPage,
  InvestigationParams,
  InvestigationQuery,
  InvestigationRequest,
  OpenedInvestigation,
  StepList,
  TimelinePage,
  TimelineQuery,
} from './schema.ts'
import { toHeaders, toInvestigation, toStepView, toSummary } from './view.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const

async function listWarnings(tx: Tx) {
  if ((await countOfficers(tx)) !== 1) return []
  const detail =
    'This tenant has one compliance officer. Somebody else has to propose the outcome, or a second officer has to be appointed.'
  return [{ code: 'one_officer', detail }]
}

/** What a request asked of a case that was open already, and that the case does not have. */
function listNotTaken(
  stored: Pick<InvestigationRow, 'title' | 'priority'>,
  { title = stored.title, priority = stored.priority }: { readonly title?: string; readonly priority?: string },
) {
  const members = [...(title === stored.title ? [] : ['title']), ...(priority === stored.priority ? [] : ['priority'])]
  if (members.length === 0) return []
  const detail = `The case was open already and keeps its ${members.join(' and ')}. Change the case where it should have the new one.`
  return [{ code: 'joined_unchanged', detail }]
}

export const investigationRoutes = [
  tenantRoute('GET /investigations', {
    id: 'listInvestigations',
    summary: 'Investigations that I may see, newest first',
    tool: {
      name: 'list_investigations',
      title: 'List investigations',
      description:
        'Cases, newest first, with subject, playbook, state and what they wait for; by state, subject or playbook. Restricted cases are left out.',
      effect: 'read',
      omit: ['queue_key', 'assignee', 'is_waiting', 'gathering', 'priority'],
    },
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: InvestigationQuery,
    reply: [200, InvestigationPage],
  }).handle(async (input) => {
    const { limit: _, cursor: __, is_waiting, ...filter } = input.query
    const wanted = { ...filter, is_waiting: is_waiting === undefined ? undefined : is_waiting === 'true' }
    const found = await paginate(input, 'listInvestigations', ['investigation_id'], (after, count) =>
      listInvestigations(input.tx, wanted, after, count),
    )
    return { ...found, items: found.items.map(toSummary) }
  }),

  tenantRoute('POST /investigations', {
    id: 'createInvestigation',
    summary: 'Open an investigation of a subject by a playbook, or join the open one',
    tool: {
      name: 'open_investigation',
      title: 'Open an investigation',
      description:
        'Opens a case about a subject by a playbook, or joins the open one. Providers that cost money may be asked. Returns the id of the case and of the job that gathers; follow it with get_job.',
      effect: 'work',
      omit: ['is_restricted'],
    },
    description:
      '202 at once: a job gathers what the steps of the playbook ask for. 200 with `joined` when an open case of this subject and ' +
      'playbook exists that everybody may see. Where a required step cannot be asked, for want of a credential or because the plugin of its ' +
      'matrix or provider cannot run, nothing is stored. A case that an alert, a trigger or a schedule opens is stored all the same, and waits.',
    roles: ['analyst', 'compliance_officer', 'service'],
    tx: 'write',
    uses: ['caches', 'forced_provider_mode', 'jobs', 'modules', 'plugin_policy', 'threads'],
    body: InvestigationRequest,
    reply: [202, OpenedInvestigation],
    alternateStatus: { status: 200, when: ({ joined }) => joined },
    headers: ({ investigation_id, job }): Record<string, string> => ({
      location: `/api/investigations/${investigation_id}`,
      ...(job !== null && { link: `<${job}>; rel="monitor"` }),
    }),
    links: { getInvestigation: { investigation_id: 'investigation_id' } },
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider', 'playbook'],
    problems: [
      'not_found',
      'nothing_in_force',
      'conflict',
      'content_corrupt',
      'erased',
      'role_required',
      'person_required',
      'concurrency_limited',
      'transition_not_allowed',
    ],
  }).handle(async ({ tx, body, kernel, actor, audit }) => {
    const { subject_id, playbook_key, priority = 'medium', alert_ids = [], is_restricted = false } = body
    const subject = assertReferenced(await findSubject(tx, subject_id), 'subject with this id')
    const playbook = await loadPlaybook(kernel, tx, playbook_key)
    if (!playbook.content.subject_types.includes(subject.subject_type))
      fail('conflict', `The playbook ${playbook_key} is not for subjects of the type ${subject.subject_type}.`)
    audit.names(await assertLinkable(tx, alert_ids))
    const owner = is_restricted ? expectPerson(actor.principal, 'Only a person may restrict access.') : null
    if (owner !== null && !actor.roles.includes('compliance_officer'))
      fail('role_required', 'Only a compliance officer opens a restricted investigation.')
    const { steps: applies } = await findApplicable(kernel, tx, playbook.content, subject)
    const steps = playbook.content.steps.filter(({ key }) => applies.has(key))
    await expectAskable(kernel, tx, steps, { is_restricted })
    const restriction =
      owner === null
        ? undefined
        : { restriction_id: await createImposedRestriction(tx, 'Investigation', owner), is_in_force: true }
    const opened = await openInvestigation(kernel, tx, {
      subject,
      playbook,
      title: body.title ?? playbook.content.title,
      priority,
      origin: 'request',
      origin_reference: null,
      ...(restriction && { restriction }),
    })
    const { investigation_id, joined, job_id } = opened
    const stored = assertFound(await findInvestigation(tx, investigation_id))
    if (alert_ids.length > 0) assertOpen(stored)
    for (const alert_id of alert_ids) await insertCaseAlert(tx, investigation_id, alert_id)
    const { reference } = stored
    audit.belongsTo({ restriction_id: opened.restriction_id, is_in_force: is_restricted })
    audit.recordDiff(null, { investigation_id, playbook_key, playbook_version: playbook.version, joined, priority })
    const warnings = [...(await listWarnings(tx)), ...(joined ? listNotTaken(stored, body) : [])]
    return { investigation_id, reference, joined, job_id, job: job_id && `/api/jobs/${job_id}`, warnings }
  }),

  tenantRoute('GET /investigations/:investigation_id', {
    id: 'getInvestigation',
    summary: 'Get an investigation with its steps, counts and what can be done next',
    tool: {
      name: 'get_investigation',
      title: 'Get one investigation',
      description:
        'One case: steps with their states and problems, clocks, alerts, counts, and which act is next or what is missing for it. People propose and close; no tool does.',
      effect: 'read',
    },
    description: 'While its restriction is in force, reading it is recorded.',
    roles: readers,
    tx: 'read',
    uses: ['auditKeys', 'caches', 'encryption', 'integrity', 'modules'],
    params: InvestigationParams,
    reply: [200, Investigation],
    revisioned: true,
    headers: toHeaders,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, actor, kernel, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    const { content, counts } = await readContent({ kernel, tx }, row, 'stored')
    const clocks = await workClocks.listClocksByObject(tx, toWorkItem(row.investigation_id))
    const alerts = await listCaseAlerts(tx, row.investigation_id)
    return {
      ...toInvestigation(row, { steps: content.steps, counts, clocks, alerts }),
      outcomes: await listOutcomes({ kernel, tx }, row),
      main_action: getMainAction(row, actor),
      next_actions: listNextActions(row, content, actor),
    }
  }),

  tenantRoute('GET /investigations/:investigation_id/steps', {
    id: 'listInvestigationSteps',
    summary: 'Steps of an investigation, in the order of the playbook',
    roles: readers,
    tx: 'read',
    params: InvestigationParams,
    reply: [200, StepList],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return { items: (await listSteps(tx, row.investigation_id)).map((step) => toStepView(row, step)) }
  }),

  tenantRoute('GET /investigations/:investigation_id/timeline', {
    id: 'listInvestigationTimeline',
    summary: 'What happened in an investigation, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors', 'encryption'],
    params: InvestigationParams,
    query: TimelineQuery,
    reply: [200, TimelinePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, query, kernel } = input
    const row = assertCase(await findInvestigation(tx, input.params.investigation_id), input.audit)
    const { category = null } = query
    const found = await paginate(
      input,
      `listInvestigationTimeline ${row.investigation_id} ${category}`,
      ['recorded_at', 'event_id'],
      (after, count) => listTimeline(tx, { investigation_id: row.investigation_id, category }, after, count),
    )
    const notes = await openNotes(kernel, tx, row, found.items)
    const items = found.items.map(({ event_id, kind, category: of, data, recorded_at, recorded_by }, at) => ({
      ...{ event_id, kind, category: of, data, recorded_at, recorded_by },
      note: notes[at]?.note ?? null,
      note_state: notes[at]?.note_state ?? null,
    }))
    return { ...found, items }
  }),
]
