/** Wire contract of evidence items. */
import {
  closed,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  reasonText,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { attachedMembers, attachmentRecords } from './attached-record.ts'
import { itemKinds, ownerKinds } from './queries.ts'

const Version = integer(1, Number.MAX_SAFE_INTEGER, {
  description: 'Of a subject_version: the revision of the subject.',
})

/** Of an answer that a person entered where nobody knew what the provider had answered. */
export const EnteredBy = nullable(
  closed(
    {
      entered_by: text(200, { description: 'user: and the id of the person.' }),
      reason: nullable(text(4000, { description: 'How the person knew what the provider answered.' })),
    },
    { title: 'AnswerAuthor', description: 'A person entered the answer in place of the provider.' },
  ),
)

export const Evidence = closed(
  {
    evidence_id: Id(),
    owner_kind: oneOf(ownerKinds),
    owner_id: Id({ description: 'What it is attached to.' }),
    kind: oneOf(itemKinds),
    object_id: nullable(Id({ description: 'What it names; null for a reference to something outside.' })),
    object_version: nullable(Version),
    title: nullable(text(300, { description: 'Null after an erasure.' })),
    reference: nullable(text(2000, { description: 'Where something outside is found.' })),
    source: nullable(text(300)),
    content_hash: text(64, {
      pattern: '^[0-9a-f]{64}$',
      description:
        'Of the object as it was stored when it was attached. Keyed or salted, so the content cannot be found by trying.',
    }),
    obtained_at: Timestamp(),
    added_at: Timestamp(),
    added_by: text(200),
    detached_at: nullable(Timestamp()),
    detached_by: nullable(text(200)),
    detach_reason: nullable(text(2000)),
    erased_at: nullable(Timestamp()),
    is_test: Type.Boolean({
      description: 'true: no live provider gave the answer, or a decision rests on such a one.',
    }),
    entered: EnteredBy,
    restriction_id: RestrictionInForce(),
  },
  { title: 'Evidence' },
)
export const EvidencePage = pageOf(Evidence)
export const EvidenceParams = closed({ evidence_id: Id() })
export const EvidenceQuery = closed({
  ...pageQuery,
  owner_kind: Type.Optional(oneOf(ownerKinds)),
  owner_id: Type.Optional(Id()),
  object_id: Type.Optional(Id()),
  kind: Type.Optional(oneOf(itemKinds)),
})

export const EvidenceRequest = closed({
  owner_kind: oneOf(ownerKinds),
  owner_id: Id(),
  kind: oneOf(itemKinds, {
    description:
      'match, transaction and ownership_graph are reserved for screening: they are refused with 409 until it is there.',
  }),
  object_id: Type.Optional(Id({ description: 'Required of every kind but external_reference.' })),
  object_version: Type.Optional(Version),
  title: titleText(300, { examples: ['Extract of the company register'] }),
  reference: Type.Optional(
    text(2000, { description: 'Required of an external_reference: an address, a file number, a place in an archive.' }),
  ),
  source: Type.Optional(titleText(300, { description: 'Who it comes from; of an external_reference required.' })),
  obtained_at: Type.Optional(Timestamp({ description: 'When it was obtained; of an external_reference required.' })),
  restriction_id: Type.Optional(
    nullable(Id({ description: 'A restriction that I may see, where neither owner nor object has one.' })),
  ),
})
export const DetachRequest = closed({ reason: reasonText(2000, { examples: ['Belongs to another customer'] }) })

export const EvidenceCheck = closed(
  {
    evidence_id: Id(),
    result: oneOf(['unchanged', 'changed', 'gone'], {
      description:
        'changed: the object or a member of the item was altered. gone: the object was deleted or erased, so it cannot be compared.',
    }),
    content_hash: text(64),
    record: oneOf(attachmentRecords, {
      description:
        'What was recorded when it was attached. complete: each member. partial: the author and one hash over kind, object, title, reference ' +
        'and hash, not source and times. none: nothing. damaged: the audit event was altered.',
    }),
    altered: listOf(oneOf(attachedMembers), attachedMembers.length, {
      description: 'Members that are not as they were recorded; with a partial record all that the one hash is over.',
    }),
  },
  { title: 'EvidenceCheck' },
)
