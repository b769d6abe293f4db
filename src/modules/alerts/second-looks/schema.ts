/** Wire contract of second looks. */
import {
  Count,
  closed,
  Id,
  integer,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { PriorityName } from '../schema.ts'

const states = ['waiting', 'agreed', 'disagreed'] as const

export const SecondLook = closed(
  {
    look_id: Id(),
    alert_id: Id(),
    title: text(300),
    source: text(40),
    priority: PriorityName,
    reason_code: nullable(text(60)),
    dismissed_by: text(200),
    sample: closed(
      {
        code: text(100, { description: 'The entry of the list quality-samples.' }),
        version: integer(1, Number.MAX_SAFE_INTEGER, { description: 'The version of that list.' }),
        seed: text(100),
        rate_bps: integer(0, 10_000),
        bucket: integer(0, 9_999, {
          description:
            'SHA-256 of the seed, a colon and the alert_id: the first four bytes, big-endian, modulo 10000. Chosen because it is below rate_bps. The seed is in the list, so the choice can be computed before the dismissal.',
        }),
      },
      { title: 'AlertSample' },
    ),
    state: oneOf(states),
    decided_at: nullable(Timestamp()),
    decided_by: nullable(text(200)),
    created_at: Timestamp(),
    is_restricted: Type.Boolean(),
  },
  { title: 'AlertSecondLook' },
)
export const SecondLookPage = pageOf(SecondLook)
export const SecondLookParams = closed({ look_id: Id() })
export const SecondLookQuery = closed({ ...pageQuery, state: Type.Optional(oneOf(states, { default: 'waiting' })) })
export const DecisionRequest = closed({
  agrees: Type.Boolean({ description: 'false: the dismissal was wrong, and the alert opens again.' }),
  note: Type.Optional(nullable(reasonText(4000))),
})

const counts = {
  waiting: Count,
  agreed: Count,
  disagreed: Count,
  agreement_bps: nullable(
    integer(0, 10_000, { description: 'Share of decided ones that agree; null: none is decided.' }),
  ),
}
export const Agreement = closed(
  { ...counts, by_source: Type.Array(closed({ source: text(40), ...counts })) },
  { title: 'AlertAgreement' },
)
