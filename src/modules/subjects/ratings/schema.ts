/** Wire contract of ratings and overrides. */
import {
  closed,
  Id,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  reasonText,
  type Static,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { Band, ratingSources } from '../records/schema.ts'

export const ratingCauses = ['evaluation', 'batch', 'override', 'override-ended'] as const

export const Rating = closed(
  {
    rating_id: Id(),
    subject_id: Id(),
    cause: oneOf(ratingCauses),
    band: nullable(Type.String({ description: 'null: an override ended and there was no rating.' })),
    score_bps: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    matrix_key: nullable(Type.String()),
    matrix_version: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    evaluation_id: nullable(Id({ description: 'The decision with its factors and the list versions behind it.' })),
    batch_id: nullable(Id()),
    valid_at: Timestamp(),
    recorded_at: Timestamp(),
    actor: text(200),
    reason: nullable(
      Type.String({
        description:
          'The text of an override is for analyst, compliance_officer and auditor; others get null and the reason_code.',
      }),
    ),
    reason_code: nullable(
      text(60, { description: 'Of an override: a code of the list reason-codes, where one was given.' }),
    ),
    expires_at: nullable(Timestamp({ description: 'When an override expires.' })),
    cr_id: nullable(
      Id({
        description: 'Of an override: the change request that set or ended it. The actor is then who approved last.',
      }),
    ),
    proposed_by: nullable(
      text(200, { description: 'Who proposed that request and wrote the reason; for the readers of the reason.' }),
    ),
  },
  { title: 'Rating' },
)
export const RatingPage = pageOf(Rating)
const RatingOrNone = Type.Unsafe<Static<typeof Rating> | null>({ anyOf: [Rating, { type: 'null' }] })
export const RatingQuery = closed({ ...pageQuery })

export const Risk = closed(
  {
    subject_id: Id(),
    band: nullable(Type.String({ description: 'In force now; null when never rated.' })),
    source: oneOf(ratingSources, { description: 'Which of the two is in force.' }),
    override: RatingOrNone,
    rating: RatingOrNone,
  },
  { title: 'SubjectRisk' },
)

const ReasonCode = text(60, {
  pattern: '^[A-Z][A-Z0-9_]*$',
  description: 'A code of the list reason-codes: shown to roles that may not read the reason.',
  examples: ['RAT_SET_BY_HAND'],
})
export const Override = closed({
  band: Band,
  reason: reasonText(1000, {
    description: 'Why the rating differs from the matrix. Readable for analyst, compliance_officer and auditor.',
  }),
  reason_code: Type.Optional(ReasonCode),
  expires_at: Timestamp({ description: 'When it expires: after now, within 400 days.' }),
})
export const OverrideEnd = closed({ reason: Type.Optional(reasonText(1000)), reason_code: Type.Optional(ReasonCode) })
