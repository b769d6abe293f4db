/** Wire contract of bulk imports of subjects. */

import { jobStates } from '#kernel/job/queries.ts'
import { Count, closed, Id, listOf, nullable, oneOf, pageQuery, Timestamp, Type, text } from '#kernel/schema.ts'

export const bulkFormats = ['csv', 'ndjson'] as const

export const BulkRequest = closed({
  upload_id: Id(),
  format: oneOf(bulkFormats),
  options: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      maxProperties: 50,
      description: 'As the options of the adapter of the same name: delimiter, encoding, mapping of columns …',
    }),
  ),
})

export const BulkCounts = closed(
  { rows: Count, created: Count, changed: Count, unchanged: Count, rejected: Count, faults: Count },
  {
    description: 'Exact: created, changed, unchanged and rejected add up to the rows. A row may have several faults.',
  },
)

export const Bulk = closed(
  {
    bulk_id: Id(),
    job_id: Id(),
    format: oneOf(bulkFormats),
    state: oneOf(jobStates),
    source: closed({
      file_name: nullable(text(500)),
      size_bytes: Count,
      sha256: nullable(text(64, { description: 'Of the upload; null once that is removed.' })),
    }),
    progress: closed({ done: Count, total: nullable(Count), unit: nullable(text(50)) }),
    counts: BulkCounts,
    problem: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    created_at: Timestamp(),
    created_by: text(200),
    finished_at: nullable(Timestamp()),
  },
  { title: 'SubjectBulk' },
)
export const BulkParams = closed({ bulk_id: Id() })

export const BulkRejectQuery = closed({ ...pageQuery })
export const MAX_REJECT_GROUPS = 50
export const BulkRejectPage = closed(
  {
    items: Type.Array(
      closed({
        seq: Count,
        code: text(100),
        pointer: Type.String({ description: 'The member concerned; empty for the whole row.' }),
        at: closed({
          row: Count,
          line: Type.Optional(Count),
          column: Type.Optional(Type.String()),
          file: Type.Optional(Type.String()),
        }),
        excerpt: nullable(Type.String()),
        message: text(2000),
      }),
    ),
    groups: listOf(
      closed({ code: text(100), pointer: Type.String(), message: text(2000), rows: Count, first_row: Count }),
      MAX_REJECT_GROUPS,
      { description: 'Faults that several rows share, the most frequent first; on the first page only.' },
    ),
    faults: Type.Integer({ minimum: 0, description: 'All of them.' }),
    truncated: Type.Boolean({ description: 'Fewer are stored than were rejected.' }),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'SubjectBulkRejectPage' },
)
