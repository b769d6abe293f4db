/** Wire contract of batches: request, progress, items, summary and comparison. */
import { jobStates } from '#kernel/job/queries.ts'
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
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { Band, Bps, Explanation, Outcome, pinnedVersions } from '#modules/evaluations/index.ts'

import { subjectTypes } from '#modules/subjects/index.ts'
import { bandChanges } from './decide/item-results.ts'

const { Sha256 } = registrySchemas
const Version = integer(1, Number.MAX_SAFE_INTEGER)
const ExternalId = text(200, { description: 'What your own systems call the subject.' })
const Column = text(200, { description: 'Header of a column, or name of a member.' })
const Inputs = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  maxProperties: 100,
  description: 'By the names the matrix or rule declares; they take precedence over the attributes of the subject.',
})

const FileReading = closed(
  {
    format: Type.Optional(
      oneOf(['csv', 'ndjson'], {
        default: 'csv',
        description: 'In a cell of CSV, several values of a list input are separated by |.',
      }),
    ),
    mapping: Type.Optional(
      closed(
        {
          external_id: Type.Optional(Column),
          inputs: Type.Optional(
            listOf(closed({ column: Column, input: text(200, { description: 'An input of the definition.' }) }), 100, {
              minItems: 1,
            }),
          ),
        },
        {
          description:
            'Which column names the subject (default: external_id), and which columns are inputs. Without `inputs`, every ' +
            'other column is an input of its own name, and one that the definition does not declare fails its row.',
        },
      ),
    ),
    delimiter: Type.Optional(
      Type.String({ pattern: '^[^\\r\\n\\u0000]$', maxLength: 1, description: 'Of a CSV file; default: comma.' }),
    ),
    encoding: Type.Optional(oneOf(['utf-8', 'utf-16le', 'utf-16be', 'iso-8859-1', 'windows-1252'])),
  },
  { description: 'How the upload is read. Items of a list are separated by | in CSV.' },
)

export const BatchFilter = closed(
  {
    subject_type: Type.Optional(oneOf(subjectTypes)),
    segment: Type.Optional(text(100)),
    band: Type.Optional(Slug({ description: 'Of the rating in force.', examples: ['high'] })),
  },
  { description: 'All active subjects that fit.' },
)

export const BatchRequest = closed({
  matrix_key: Type.Optional(
    Slug({ description: 'The matrix that decides. Either this or rule_key.', examples: ['customer-risk'] }),
  ),
  rule_key: Type.Optional(
    Slug({ description: 'The rule that decides. Either this or matrix_key.', examples: ['cash-structuring'] }),
  ),
  valid_at: Type.Optional(
    Timestamp({ description: 'Decide with the versions in force at this instant; now when absent.' }),
  ),
  upload_id: Type.Optional(Id({ description: 'A stored CSV or NDJSON file, one item a row.' })),
  file: Type.Optional(FileReading),
  items: Type.Optional(
    listOf(
      closed({
        subject_id: Type.Optional(Id()),
        external_id: Type.Optional(ExternalId),
        inputs: Type.Optional(Inputs),
      }),
      1000,
      { minItems: 1, description: 'The items themselves. An unknown external id is decided on its inputs alone.' },
    ),
  ),
  filter: Type.Optional(BatchFilter),
  note: Type.Optional(text(500)),
})

export const Estimate = closed(
  {
    items: Count,
    is_exact: Type.Boolean({ description: 'false: a large file was read in part only, or there are more subjects.' }),
    seconds: Type.Integer({
      minimum: 0,
      description: 'By the measured rate of this release; a busy machine takes longer.',
    }),
    provider_calls: Type.Integer({ minimum: 0, description: 'Matrices and rules call no provider.' }),
    plugin_calls: Type.Integer({ minimum: 0, description: 'One for each item and factor that a plugin scores.' }),
    plugin_seconds: Type.Integer({
      minimum: 0,
      description:
        'The part of `seconds` that plugins take. Each call has a fresh context: hundreds a second, not thousands.',
    }),
    missing_credentials: listOf(text(100), 100),
    definition_version: Version,
    definition_origin: registrySchemas.Origin,
    tried: closed(
      {
        items: Count,
        failed: Count,
        failures: listOf(closed({ code: text(100), count: Count, message: Type.String() }), 100),
      },
      { description: 'The first items, decided on what is in force now; nothing of it is kept.' },
    ),
  },
  { title: 'BatchEstimate' },
)

export const BatchParams = closed({ batch_id: Id() })
export const BatchQuery = closed({ ...pageQuery })
export const StoredFilter = closed({
  subject_type: Type.Optional(oneOf(subjectTypes)),
  segment: Type.Optional(text(100)),
  band: Type.Optional(text(100)),
})
export const BatchView = closed(
  {
    batch_id: Id(),
    job_id: Id({ description: 'The job that works on it, or did last.' }),
    state: oneOf(jobStates),
    family: oneOf(['matrix', 'rule']),
    definition_key: Slug(),
    definition_version: Version,
    definition_origin: registrySchemas.Origin,
    engine: Version,
    receipt_id: Id({ description: 'The receipt of all items of this batch.' }),
    valid_at: Timestamp(),
    known_at: Timestamp(),
    source: closed({
      kind: oneOf(['upload', 'items', 'filter']),
      upload_id: nullable(Id()),
      file_name: nullable(Type.String()),
      sha256: nullable(text(64, { description: 'Of the upload; null once that is removed.' })),
      filter: nullable(StoredFilter),
    }),
    note: nullable(text(500)),
    counts: closed({
      total: nullable(Type.Integer({ minimum: 0, description: 'null: not counted yet.' })),
      done: Count,
      failed: Count,
    }),
    is_retry: Type.Boolean({ description: 'Its failed items were, or are being, tried again.' }),
    problem: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    created_at: Timestamp(),
    created_by: text(200),
    finished_at: nullable(Timestamp()),
  },
  { title: 'BatchEvaluation' },
)
export const BatchPage = pageOf(BatchView)

const ItemFault = closed(
  {
    code: text(100),
    pointer: Type.String({ description: 'JSON Pointer into the inputs; empty for the whole item.' }),
    message: Type.String(),
    column: Type.Optional(Type.String()),
  },
  { title: 'BatchItemFault' },
)
const Rated = nullable(text(100))
const Hit = nullable(Type.Boolean())
export const BatchItem = closed(
  {
    seq: Count,
    line: nullable(Type.Integer({ minimum: 1, description: 'Of the file.' })),
    subject_id: nullable(Id()),
    external_id: nullable(Type.String()),
    state: oneOf(['done', 'failed']),
    inputs: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      description: 'As decided on; of a failed item as they were given; null where nothing could be read.',
    }),
    band: Rated,
    score_bps: nullable(Bps),
    hit: nullable(Type.Boolean()),
    reason_codes: listOf(text(200), 1000),
    document_hash: nullable(Sha256),
    previous_band: Rated,
    change: nullable(
      oneOf(bandChanges, { description: 'moved: one of the two bands is no longer on the list of bands.' }),
    ),
    findings: listOf(ItemFault, 20),
    is_erased: Type.Boolean({ description: 'The subject was erased, and with it external id, inputs and findings.' }),
  },
  { title: 'BatchItem' },
)
export const BatchItemPage = pageOf(BatchItem)
export const BatchItemQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(['done', 'failed'])),
  change: Type.Optional(oneOf(bandChanges, { description: 'Against the rating before the batch.' })),
  band: Type.Optional(Band),
  previous_band: Type.Optional(text(100)),
  failure_code: Type.Optional(text(100)),
  hit: Type.Optional(oneOf(['hit', 'no_hit'], { description: 'Of a rule.' })),
  subject_id: Type.Optional(Id()),
})
export const BatchItemParams = closed({
  batch_id: Id(),
  seq: Type.String({
    pattern: '^[1-9][0-9]{0,14}$',
    maxLength: 15,
    description: 'Number of the item.',
    examples: ['1'],
  }),
})
export const ItemExplanation = closed(
  {
    batch_id: Id(),
    seq: Count,
    subject_id: nullable(Id()),
    document_hash: text(64, {
      description: 'As stored, and of the document that was made again: otherwise the answer is 409 `content_corrupt`.',
    }),
    ...pinnedVersions,
    outcome: Outcome,
    explanation: Explanation,
  },
  { title: 'BatchItemExplanation' },
)

const Tally = { count: Count }
export const BatchSummary = closed(
  {
    batch_id: Id(),
    state: oneOf(jobStates),
    items: Count,
    done: Count,
    failed: Count,
    bands: listOf(closed({ band: text(100), ...Tally }), 1000),
    hits: nullable(closed({ hit: Count, no_hit: Count })),
    migration: listOf(closed({ from: Rated, to: text(100), ...Tally }), 10_000, {
      description: 'Of known subjects: the band the matrix gave before, null for none, and the band it gives now.',
    }),
    changes: closed(
      Object.fromEntries(bandChanges.map((change) => [change, Count])) as Record<
        (typeof bandChanges)[number],
        typeof Count
      >,
    ),
    failures: listOf(closed({ code: text(100), ...Tally }), 1000, { description: 'By the first fault of each item.' }),
  },
  { title: 'BatchSummary' },
)

export const ContentQuery = closed({
  format: Type.Optional(oneOf(['csv', 'ndjson'], { default: 'csv' })),
  formula_guard: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'Prefixes cells and headers a spreadsheet would run as a formula with an apostrophe (csv): those that begin with =, +, - or @, ' +
        'also full-width, with or without white space before it. Without the guard a file reads back exactly.',
    }),
  ),
})

export const CompareParams = closed({ batch_id: Id(), other_batch_id: Id() })
export const CompareQuery = closed({ ...pageQuery })
const Side = closed({
  state: oneOf(['done', 'failed']),
  band: Rated,
  score_bps: nullable(Bps),
  hit: nullable(Type.Boolean()),
})
const VersionChange = closed(
  {
    family: oneOf(['matrix', 'rule', 'list', 'plugin', 'engine']),
    key: Slug(),
    from_version: nullable(Version),
    from_origin: nullable(registrySchemas.Origin),
    to_version: nullable(Version),
    to_origin: nullable(registrySchemas.Origin),
    from_overlay: nullable(Version),
    to_overlay: nullable(Version),
  },
  { title: 'BatchVersionChange' },
)
export const BatchComparison = closed(
  {
    batch_id: Id(),
    other_batch_id: Id(),
    versions: listOf(VersionChange, 400, { description: 'What the second was decided on that the first was not.' }),
    common: Type.Integer({ minimum: 0, description: 'Items of both, by subject or external id.' }),
    only_first: Count,
    only_second: Count,
    same: Count,
    different: Count,
    migration: listOf(closed({ from: Rated, to: Rated, ...Tally }), 10_000, {
      description: 'Of common items; null: the item failed, or a rule decided.',
    }),
    hit_migration: listOf(closed({ from: Hit, to: Hit, ...Tally }), 9, {
      description: 'Of common items that a rule decided, from hit or no hit to either; null: the item failed.',
    }),
    items: Type.Array(
      closed({
        subject_id: nullable(Id()),
        external_id: nullable(Type.String()),
        seq: Count,
        other_seq: Count,
        before: Side,
        after: Side,
        because: listOf(text(200), 400, {
          description:
            '`inputs`, or a version named as `family key`: switched alone in the first decision, it gives the second outcome. ' +
            'Empty: only several together do, or the item failed.',
        }),
      }),
      { description: 'Those whose outcome differs.' },
    ),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'BatchComparison' },
)
