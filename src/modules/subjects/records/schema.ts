/** Wire contract of subjects and their history. */
import {
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

export const subjectTypes = ['person', 'company', 'other'] as const
export const subjectStates = ['active', 'offboarded'] as const

export const ratingSources = ['override', 'rating', 'none'] as const

export const SubjectType = oneOf(subjectTypes)
export const ExternalId = text(200, { description: 'What your own systems call the subject; unique when given.' })
const Name = text(500)
export const Segment = text(100, { description: 'Customer segment, for figures by segment.' })
export const Attributes = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: 100,
  description: 'What matrices and rules read: any JSON members, together at most 16 KiB.',
})
export const Band = Slug({ description: 'A risk band, as the list of bands names it.', examples: ['high'] })

/** The content of a subject, in its current and every earlier version. */
const content = {
  subject_type: SubjectType,
  external_id: nullable(ExternalId),
  name: Name,
  segment: nullable(Segment),
  attributes: Attributes,
  state: oneOf(subjectStates),
  offboarded_at: nullable(Timestamp()),
  offboard_reason: nullable(text(1000)),
}

const record = {
  subject_id: Id(),
  ...content,
  erased_at: nullable(Timestamp({ description: 'When the content was erased; null: it was not.' })),
  revision: Revision,
  created_at: Timestamp(),
  created_by: text(200),
  updated_at: Timestamp(),
  updated_by: text(200),
}
export const Subject = closed(record, { title: 'Subject' })
export const UpsertedSubject = closed(
  { ...record, created: Type.Boolean({ description: 'false: a subject with this external id already existed.' }) },
  { title: 'UpsertedSubject' },
)
export const SubjectPage = pageOf(
  closed(
    {
      ...record,
      band: nullable(Type.String({ description: 'Of the rating in force; null when never rated.' })),
      rating_source: oneOf(ratingSources, { description: 'Whether the band is set by an override or by a rating.' }),
    },
    { title: 'RatedSubject' },
  ),
)

export const SubjectParams = closed({ subject_id: Id() })
const filters = {
  name: Type.Optional(
    text(200, { description: 'Each word must be a prefix of a word of the name; case and accents are ignored.' }),
  ),
  external_id: Type.Optional(ExternalId),
  subject_type: Type.Optional(SubjectType),
  segment: Type.Optional(Segment),
  state: Type.Optional(oneOf(subjectStates)),
  band: Type.Optional(Band),
  override_expires_before: Type.Optional(
    Timestamp({ description: 'Only subjects under an override of their rating that expires before this instant.' }),
  ),
}
export const SubjectQuery = closed({ ...pageQuery, ...filters })
export const SubjectCountQuery = closed(filters)
export const MAX_COUNTED_SUBJECTS = 10_000
export const SubjectCount = closed(
  {
    count: integer(0, MAX_COUNTED_SUBJECTS, { description: `Counted up to ${MAX_COUNTED_SUBJECTS}.` }),
    is_capped: Type.Boolean({ description: 'There are more.' }),
  },
  { title: 'SubjectCount' },
)

export const MAX_FILTER_VALUES = 200
export const SubjectFilterValues = closed(
  {
    segments: listOf(Segment, MAX_FILTER_VALUES, {
      description: 'Segments that subjects have, in alphabetical order.',
    }),
    bands: listOf(closed({ band: Type.String(), title: Type.String() }), 2 * MAX_FILTER_VALUES, {
      description: 'The bands in force from the lowest to the highest, then those that only earlier ratings have.',
    }),
  },
  { title: 'SubjectFilterValues' },
)

export const NewSubject = closed({
  subject_type: SubjectType,
  name: Name,
  external_id: Type.Optional(ExternalId),
  segment: Type.Optional(nullable(Segment)),
  attributes: Type.Optional(Attributes),
})

export const SubjectChange = closed(
  {
    subject_type: Type.Optional(SubjectType),
    name: Type.Optional(Name),
    external_id: Type.Optional(nullable(ExternalId)),
    segment: Type.Optional(nullable(Segment)),
    attributes: Type.Optional(Attributes),
    expected_revision: ExpectedRevision,
  },
  { minProperties: 1 },
)

export const Offboarding = closed({
  reason: reasonText(1000, { description: 'Why the relationship ends.' }),
  expected_revision: ExpectedRevision,
})

export const SubjectVersionPage = pageOf(
  closed(
    {
      revision: Revision,
      ...content,
      name: nullable(Name),
      recorded_from: Timestamp(),
      recorded_until: nullable(Timestamp({ description: 'null: the current record.' })),
      changed_by: text(200),
      is_erased: Type.Boolean({
        description: 'The subject was erased: external id, name, segment and attributes are gone.',
      }),
    },
    { title: 'SubjectVersion' },
  ),
)
export const SubjectVersionQuery = closed({
  ...pageQuery,
  at: Type.Optional(Timestamp({ description: 'Only the version at this instant.' })),
})

export const TimelinePage = pageOf(
  closed(
    {
      event_id: text(100),
      kind: oneOf(['created', 'changed', 'offboarded', 'rated', 'overridden', 'override-ended']),
      at: Timestamp(),
      actor: text(200),
      revision: nullable(Revision),
      members: listOf(text(50), 20, { description: 'Members of the record that changed.' }),
      rating_id: nullable(Id()),
      band: nullable(Type.String()),
      reason: nullable(Type.String()),
    },
    { title: 'SubjectEvent' },
  ),
)
export const TimelineQuery = closed({ ...pageQuery })
