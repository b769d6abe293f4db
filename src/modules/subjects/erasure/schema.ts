/** Wire contract of erasures. */
import {
  Count,
  closed,
  Id,
  integer,
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

/** Enough to work through; the next preview shows the others. */
export const MAX_REVIEW = 100

const RetentionClock = closed(
  {
    jurisdiction: text(2),
    record: text(60),
    keep_months: integer(1, 600),
    legal_basis: text(300),
    source: text(300),
  },
  { title: 'RetentionClock' },
)
const ErasureClass = closed(
  {
    class: text(60),
    title: text(200),
    count: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Rows that are erased.' }),
    by_id: integer(0, Number.MAX_SAFE_INTEGER, {
      description: 'Of these, rows that belong to the subject or name its id.',
    }),
    by_mark: integer(0, Number.MAX_SAFE_INTEGER, {
      description: 'Of these, rows of no subject that have a name or external id which only this subject has.',
    }),
    left_for_review: integer(0, Number.MAX_SAFE_INTEGER, {
      description:
        'Rows of no subject that have a name which others have too, or which is an ordinary word. They stay unless the request names them.',
    }),
    kept_by_hold: integer(0, Number.MAX_SAFE_INTEGER, {
      description: 'Rows of no subject that have such a name and are kept by a legal hold or an open investigation.',
    }),
    review: listOf(text(300), MAX_REVIEW, { description: 'Ids of rows left for review, or of what they belong to.' }),
    outcome: oneOf(['erase', 'keep']),
    rule: oneOf(['hold', 'open_case', 'retention', 'request'], {
      description:
        'What decides: a legal hold, then an investigation that is not ended, then a retention period, then the request.',
    }),
    keep_until: nullable(
      Timestamp({ description: 'null: it is erased, or it is not known yet when the period ends.' }),
    ),
    clock: nullable(RetentionClock),
  },
  { title: 'ErasureClass' },
)
const ErasureWarning = oneOf(['no_jurisdiction', 'no_retention_period'], {
  description:
    'no_jurisdiction: the tenant names none, so no retention period was applied. no_retention_period: the list has none for ' +
    'the jurisdictions of the tenant.',
})
export const ErasurePreview = closed(
  {
    subject_id: Id(),
    can_erase: Type.Boolean({ description: 'false: something is kept, and no erasure can be confirmed.' }),
    classes: listOf(ErasureClass, 100),
    retention_clocks: nullable(
      closed(
        { version: integer(1, Number.MAX_SAFE_INTEGER), content_hash: text(64) },
        { description: 'The version of the list that decided.' },
      ),
    ),
    jurisdictions: listOf(text(2), 100, { description: 'Of the tenant, whose retention periods were looked for.' }),
    warnings: listOf(ErasureWarning, 2, {
      description: 'What a person must know before erasing; it refuses nothing.',
    }),
  },
  { title: 'ErasurePreview' },
)
export type ErasurePreviewView = Type.Static<typeof ErasurePreview>

const AlsoErased = closed({ class: text(60), id: text(300) }, { title: 'AlsoErased' })

export const Erasure = closed(
  {
    erasure_id: Id(),
    subject_id: Id(),
    origin: oneOf(['request', 'ledger'], { description: 'ledger: repeated after an older state was restored.' }),
    state: oneOf(['requested', 'executing', 'done', 'withdrawn']),
    reason: nullable(text(2000, { description: 'Removed when the erasure is done.' })),
    requested_at: Timestamp(),
    requested_by: text(200),
    confirmed_at: nullable(Timestamp()),
    confirmed_by: nullable(text(200)),
    job_id: nullable(Id()),
    also: listOf(AlsoErased, 1000, {
      description:
        'Rows that the request names although others may have the name too: those that the caller may see and that still exist.',
    }),
    done_at: nullable(Timestamp()),
    warnings: nullable(
      listOf(ErasureWarning, 2, {
        description: 'Those under which it was confirmed; null: it was not, or an earlier release did not note them.',
      }),
    ),
  },
  { title: 'Erasure' },
)
export const ErasurePage = pageOf(Erasure)
export const ErasureParams = closed({ erasure_id: Id() })
export const ErasureQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(['requested', 'executing', 'done', 'withdrawn'])),
  subject_id: Type.Optional(Id()),
})
export const ErasureRequest = closed({
  reason: reasonText(2000),
  also: Type.Optional(
    listOf(AlsoErased, 1000, {
      description: 'Rows that the preview leaves for review and that are about this subject.',
    }),
  ),
})

const ErasedClass = closed(
  { class: text(60), count: Count, left_for_review: Count, kept_by_hold: Count },
  { title: 'ErasedClass' },
)
const signed = {
  key_id: text(64),
  public_key: text(100),
  // Certificates of an earlier release have none.
  earlier_keys: Type.Optional(
    listOf(closed({ key_id: text(64), public_key: text(100), succession: text(200) }), 1000, {
      description: 'Keys before this one, each with its signature over its successor.',
    }),
  ),
  signature: text(200, {
    description:
      'Ed25519, by the key that signs checkpoints, of the canonical JSON of all other members except the annexes.',
  }),
}

export const ErasureAnnex = closed(
  {
    format: text(40),
    erasure_id: Id(),
    tenant_id: Id(),
    restriction_id: Id(),
    also_restriction_ids: Type.Optional(
      listOf(Id(), 10_000, { description: 'Where the rows belong to more than one.' }),
    ),
    erased: listOf(ErasedClass, 100),
    ...signed,
  },
  { title: 'ErasureAnnex', description: 'What was erased of rows with the same restrictions.' },
)

export const ErasureCertificate = closed(
  {
    format: text(40),
    erasure_id: Id(),
    tenant_id: Id(),
    subject_id: Id(),
    requested_at: Timestamp(),
    confirmed_at: Timestamp(),
    erased_at: Timestamp(),
    erased: listOf(ErasedClass, 100, { description: 'Of rows without a restriction.' }),
    keys_destroyed: Count,
    ledger: closed({ seq: integer(1, Number.MAX_SAFE_INTEGER), hash: text(64) }),
    // As above.
    backups: Type.Optional(
      closed(
        {
          kept_days: nullable(integer(0, 36_500, { description: 'null: the operator has not said.' })),
          last_expires_on: nullable(
            text(10, { description: 'By this day, in UTC, no backup from before the erasure is left; null: unknown.' }),
          ),
        },
        { description: 'Backups from before the erasure still hold the subject and its key.' },
      ),
    ),
    ...signed,
    annexes: listOf(ErasureAnnex, 10_000, { description: 'Those that the caller may see, each signed on its own.' }),
  },
  { title: 'ErasureCertificate' },
)
