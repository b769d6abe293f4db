/** Subjects, notes and alerts of an investigation. */
import { recordEvent } from '#kernel/audit/record.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { addNote, openNotes } from '../case-notes.ts'
import { assertCase, assertOpen } from '../lifecycle/case-content.ts'
import { assertLinkable } from '../opening/linked-alerts.ts'
import { addSubject } from '../opening/queries.ts'
import { findInvestigation, insertCaseAlert, listCaseSubjects } from '../queries.ts'
import { InvestigationParams } from '../schema.ts'
import { findNoteTime, listNotes } from './queries.ts'
import {
  AlertLinkRequest,
  AlertLinks,
  CaseSubject,
  CaseSubjectList,
  CaseSubjectRequest,
  Note,
  NotePage,
  NoteQuery,
  NoteText,
  type parts,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const workers = ['analyst', 'compliance_officer'] as const

const toSubject = <S extends { readonly part: string }>(row: S) => ({
  ...row,
  part: row.part as (typeof parts)[number],
})

export const peopleRoutes = [
  tenantRoute('GET /investigations/:investigation_id/subjects', {
    id: 'listInvestigationSubjects',
    summary: 'Subjects that an investigation is about',
    roles: readers,
    tx: 'read',
    params: InvestigationParams,
    reply: [200, CaseSubjectList],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const { investigation_id } = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    return { items: (await listCaseSubjects(tx, investigation_id)).map(toSubject) }
  }),

  tenantRoute('POST /investigations/:investigation_id/subjects', {
    id: 'createInvestigationSubject',
    summary: 'Add a subject to an investigation',
    roles: workers,
    tx: 'write',
    params: InvestigationParams,
    body: CaseSubjectRequest,
    reply: [201, CaseSubject],
    problems: ['not_found', 'conflict', 'duplicate', 'transition_not_allowed', 'erased'],
  }).handle(async ({ tx, params, body, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    assertOpen(row)
    const { investigation_id } = row
    const { subject_id } = assertReferenced(await findSubject(tx, body.subject_id), 'subject with this id')
    await addSubject(tx, investigation_id, subject_id, body.part)
    audit.recordDiff(null, { subject_id, part: body.part })
    const added = (await listCaseSubjects(tx, investigation_id)).find((each) => each.subject_id === subject_id)
    return toSubject(assertFound(added))
  }),

  tenantRoute('GET /investigations/:investigation_id/notes', {
    id: 'listInvestigationNotes',
    summary: 'What people wrote about an investigation, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors', 'encryption'],
    params: InvestigationParams,
    query: NoteQuery,
    reply: [200, NotePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, kernel } = input
    const row = assertCase(await findInvestigation(tx, input.params.investigation_id), input.audit)
    const { investigation_id } = row
    const found = await paginate(input, `listInvestigationNotes ${investigation_id}`, ['note_id'], (after, count) =>
      listNotes(tx, investigation_id, after, count),
    )
    const opened = await openNotes(kernel, tx, row, found.items)
    const items = found.items.map(({ note_id, created_at, created_by }, at) => {
      const { note = null, note_state } = opened[at] ?? {}
      return { note_id, text: note, state: note_state ?? ('altered' as const), created_at, created_by }
    })
    return { ...found, items }
  }),

  tenantRoute('POST /investigations/:investigation_id/notes', {
    id: 'createInvestigationNote',
    summary: 'Write a note about an investigation',
    tool: {
      name: 'add_investigation_note',
      title: 'Add a note',
      description: 'Writes a note about an open case in the name of the caller. It is never changed or removed.',
      effect: 'work',
    },
    description:
      'It is never changed. None is written while an outcome is proposed: what is to be said about it is the note of close or return. Read by analyst, compliance_officer and auditor.',
    roles: workers,
    tx: 'write',
    uses: ['encryption'],
    params: InvestigationParams,
    body: NoteText,
    reply: [201, Note],
    problems: ['not_found', 'erased', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    if (row.state === 'proposed')
      fail(
        'transition_not_allowed',
        'An outcome is proposed; return it first. What is to be said about it is written with close or return.',
      )
    assertOpen(row)
    const note_id = await addNote(kernel, tx, row, { text: body.text })
    const { created_at, created_by } = assertFound(await findNoteTime(tx, note_id))
    audit.recordHashes(null, { note_id, text: body.text })
    return { note_id, text: body.text, state: 'readable' as const, created_at, created_by }
  }),

  tenantRoute('POST /investigations/:investigation_id/alerts', {
    id: 'linkInvestigationAlerts',
    summary: 'Link alerts to an investigation',
    description:
      'Not while an outcome is proposed; an alert that is escalated then joins all the same, and the outcome has to be proposed again. An alert whose restriction is in force is escalated instead: its case has the same restriction.',
    roles: workers,
    tx: 'write',
    uses: ['auditKeys'],
    params: InvestigationParams,
    body: AlertLinkRequest,
    reply: [200, AlertLinks],
    problems: ['not_found', 'conflict', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, kernel, request, audit }) => {
    const row = assertCase(await findInvestigation(tx, params.investigation_id), audit)
    assertOpen(row)
    const { investigation_id, restriction_id } = row
    const alerts = await assertLinkable(tx, body.alert_ids, restriction_id)
    audit.names([row, ...alerts])
    const linked: string[] = []
    for (const alert of alerts) {
      const { alert_id } = alert
      if ((await insertCaseAlert(tx, investigation_id, alert_id)) === 0) continue
      linked.push(alert_id)
      // An alert may be restricted later, and apart from the case: its id is in an event that is hidden with either.
      const also_restriction_id = alert.restriction_id === restriction_id ? null : alert.restriction_id
      if (alerts.length === 1) audit.belongsTo({ ...row, also_restriction_id })
      else
        recordEvent(tx, kernel.auditKeys, {
          operation: 'linkInvestigationAlerts',
          object_type: 'investigations',
          object_id: investigation_id,
          request_id: request.id,
          detail: { diff: [{ member: 'linked', before: null, after: [alert_id] }] },
          restriction_id,
          also_restriction_id,
        })
    }
    if (alerts.length === 1) audit.recordDiff(null, { linked })
    else audit.recordHashes(null, { linked })
    return { linked }
  }),
]
