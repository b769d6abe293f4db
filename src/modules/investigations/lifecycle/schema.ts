/** Wire contract of the acts on an investigation. */
import {
  closed,
  ExpectedRevision,
  Id,
  nullable,
  oneOf,
  reasonText,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { priorities } from '#modules/work/index.ts'
import { waitingReasons } from '../model.ts'
import { OutcomeCode } from '../schema.ts'

const Note = reasonText(4000, { description: 'For people who work on the case. Never shown to viewer and service.' })
const optionalNote = { note: Type.Optional(nullable(Note)), expected_revision: ExpectedRevision }

export const InvestigationPatch = closed({
  title: Type.Optional(titleText(300)),
  priority: Type.Optional(oneOf(priorities)),
  ...optionalNote,
})
export const AssignRequest = closed({
  user_id: Id({ description: 'Who works on it from now on. The person must be able to see it.' }),
  ...optionalNote,
})
export const WaitRequest = closed({
  waiting_for: oneOf(waitingReasons),
  until: Type.Optional(nullable(Timestamp({ description: 'It goes on by itself then.' }))),
  ...optionalNote,
})
export const NoteRequest = closed(optionalNote)
export const ReasonRequest = closed({ note: Note, expected_revision: ExpectedRevision })
export const ProposeRequest = closed({ outcome: OutcomeCode, ...optionalNote })
export const CloseRequest = closed({
  proposal_hash: text(64, {
    pattern: '^[0-9a-f]{64}$',
    description: 'Of the proposal that was read: nothing that it rests on may have changed since.',
  }),
  ...optionalNote,
})
export const MergeRequest = closed({
  into: Id({ description: 'The open investigation that goes on.' }),
  note: Note,
  expected_revision: ExpectedRevision,
})
