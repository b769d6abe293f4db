/** Wire contract of what surrounds a case: subjects, notes, alerts and who has access. */
import {
  closed,
  ExpectedRevision,
  Id,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { accessLists } from '#modules/restrictions/index.ts'
import { Principal } from '../schema.ts'

export const parts = ['primary', 'counterparty', 'beneficial_owner', 'representative', 'related'] as const

export const CaseSubject = closed(
  {
    subject_id: Id(),
    name: text(500),
    subject_type: text(20),
    part: oneOf(parts),
    added_at: Timestamp(),
    added_by: Principal,
  },
  { title: 'InvestigationSubject' },
)
export const CaseSubjectList = closed({ items: Type.Array(CaseSubject) }, { title: 'InvestigationSubjectList' })
export const CaseSubjectRequest = closed({
  subject_id: Id(),
  part: oneOf(['counterparty', 'beneficial_owner', 'representative', 'related']),
})

export const Note = closed(
  {
    note_id: Id(),
    text: nullable(text(4000, { description: 'Null where it was erased.' })),
    state: oneOf(['readable', 'erased', 'altered']),
    created_at: Timestamp(),
    created_by: Principal,
  },
  { title: 'InvestigationNote' },
)
export const NotePage = pageOf(Note)
export const NoteQuery = closed(pageQuery)
export const NoteText = closed({ text: reasonText(4000, { examples: ['The branch manager knows the customer.'] }) })

export const AlertLinkRequest = closed({
  alert_ids: Type.Array(Id(), { minItems: 1, maxItems: 50, uniqueItems: true }),
})
export const AlertLinks = closed(
  { linked: Type.Array(Id({ description: 'Those that were not linked before.' })) },
  { title: 'LinkedAlerts' },
)

export const CaseAccess = closed(
  {
    restriction_id: Id(),
    is_restricted: Type.Boolean(),
    items: Type.Array(accessLists.RestrictionAccess),
  },
  { title: 'InvestigationAccess' },
)
export const CaseAccessRequest = closed({
  is_restricted: Type.Boolean({
    description:
      'true: only people with access see the case and all that belongs to it. It is then never joined again.',
  }),
  people: Type.Optional(
    listOf(Id(), 200, {
      uniqueItems: true,
      description: 'Ids of people who have access from now on, beside me. Absent: those who have it keep it.',
    }),
  ),
  reason: reasonText(2000, { examples: ['Suspicion that the customer must not learn of'] }),
  expected_revision: ExpectedRevision,
})
export const GrantRequest = closed({
  user_id: Id(),
  effect: Type.Optional(oneOf(['grant', 'exclude'], { default: 'grant' })),
  until: Type.Optional(nullable(Timestamp({ description: 'Only for a grant.' }))),
  reason: Type.Optional(nullable(reasonText(2000))),
})
export const AccessQuery = closed(pageQuery)
