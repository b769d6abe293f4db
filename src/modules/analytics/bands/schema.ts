/** Wire contract of the lists behind the counts by band. */
import { CalendarDate, closed, Id, nullable, oneOf, pageOf, pageQuery, Timestamp, Type, text } from '#kernel/schema.ts'
import { subjectTypes } from '#modules/subjects/index.ts'
import { MatrixFilter } from '../portfolio/schema.ts'

/** What set the band of a subject. */
export const bandCauses = [
  'evaluation',
  'batch',
  'override',
  'override-ended',
  'override-expired',
  'offboarded',
] as const

const subject = {
  subject_id: Id(),
  subject_type: oneOf(subjectTypes),
  external_id: nullable(text(200)),
  name: text(500),
  erased_at: nullable(Timestamp({ description: 'When the content was erased; null: it was not.' })),
}
const SetAt = Timestamp({ description: 'When that event took effect, by valid time.' })
const Cause = oneOf(bandCauses, {
  description:
    'The last event that set the band: after an override ended or expired, the rating below it is in force again.',
})

export const BandSubjectQuery = closed({
  ...pageQuery,
  matrix_key: MatrixFilter,
  band: Type.Optional(text(100, { description: 'Only subjects in this band.', examples: ['high'] })),
  on: Type.Optional(CalendarDate({ description: 'At the end of this day (UTC); now when absent or today.' })),
})
export const BandSubjectPage = pageOf(
  closed({ ...subject, band: text(100), cause: Cause, set_at: SetAt }, { title: 'SubjectInBand' }),
)

export const MovementQuery = closed({
  ...pageQuery,
  matrix_key: MatrixFilter,
  band: Type.Optional(
    text(100, { description: 'Only subjects that came into this band or left it.', examples: ['high'] }),
  ),
  from_on: Type.Optional(
    CalendarDate({
      description: 'Bands at the end of this day (UTC) are compared; a year before the last day when absent.',
    }),
  ),
  until_on: Type.Optional(
    CalendarDate({ description: 'With those at the end of this day; now when absent or today.' }),
  ),
})
export const MovementPage = pageOf(
  closed(
    {
      ...subject,
      from_band: nullable(text(100, { description: 'null: not rated by then.' })),
      to_band: nullable(text(100, { description: 'null: no longer active.' })),
      cause: Cause,
      set_at: SetAt,
    },
    { title: 'RiskMovement' },
  ),
)
