/** Wire contract of adapters and imports. */
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
  type Static,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { encodingOrigins, encodings } from '#registry/formats/decode.ts'
import { DeltaBody, DeltaCountsView, DeltaPreviewBody, DeltaPreviewView, DeltaView } from '../deltas/schema.ts'
import { LocationView, Reject, Warning } from '../schema.ts'
import { ExpectedHead, GuardOverride } from '../versions/schema.ts'

const AdapterKey = Type.String({
  pattern: '^(plugin:)?[a-z0-9][a-z0-9_-]{0,99}$',
  maxLength: 107,
  description: 'An adapter of GET /reference-data/adapters, or `plugin:` and the key of a plugin of the kind adapter.',
})

export const AdapterView = closed(
  {
    adapter_key: AdapterKey,
    adapter_version: registrySchemas.VersionNumber,
    title: text(200),
    description: text(4000),
    publisher: nullable(text(200)),
    media_types: listOf(text(100), 20),
    file_extensions: listOf(text(20), 20),
    target_type: nullable(Slug()),
    options: Type.Unsafe<Record<string, unknown>>({ type: 'object', description: 'JSON Schema of the options.' }),
    sample: nullable(
      closed({
        encoding: oneOf(['utf8', 'base64']),
        text: Type.String(),
        options: Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          description: 'Options the sample is read with.',
        }),
      }),
    ),
    plugin: nullable(
      closed({
        plugin_key: Slug({ description: 'The plugin that reads the file.' }),
        runs: Type.Boolean({ description: 'Whether the version in force can run; where not, an import answers 503.' }),
        reasons: listOf(text(1000), 1000),
      }),
    ),
  },
  { title: 'Adapter' },
)
export const AdapterPage = pageOf(AdapterView)
export const AdapterParams = closed({ adapter_key: AdapterKey })
export const PreviewParams = closed({ adapter_key: AdapterKey })
export const AdapterQuery = closed({ ...pageQuery })

const Options = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'As the adapter’s options schema says.',
  maxProperties: 50,
})
const Pointers = listOf(text(200, { pattern: '^(/[^/\\u0000]+)+$' }), 50, { uniqueItems: true })

export const DetectionRequest = closed({
  upload_id: Id(),
  list_key: Type.Optional(
    Slug({ description: 'The list the file is for: only ways to read it as the type of this list are returned.' }),
  ),
  type_key: Type.Optional(Slug({ description: 'Only ways to read the file as this type.' })),
})

const Candidate = closed(
  {
    adapter_key: Slug(),
    title: text(200),
    type_key: nullable(Slug({ description: 'Null when no type fits: then `inferred_type` is proposed.' })),
    options: Options,
    rows: Count,
    accepted: Count,
    rejected: Count,
    first_reject: nullable(Reject),
    reason: text(2000, { description: 'What speaks for this way to read the file.' }),
    notes: listOf(text(4000), 20),
    columns: listOf(closed({ column: Type.String(), pointer: nullable(Type.String()) }), 1000, {
      description: 'The columns and the members they are read into; null for those that are not read.',
    }),
    inferred_type: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'A type made of the columns, to be edited and created.',
    }),
  },
  { title: 'DetectionCandidate' },
)

export const DetectionReply = closed(
  {
    file_name: nullable(text(500)),
    looks_like: text(2000, { description: 'With its article, such as "XML with the root element sdnList".' }),
    advice: nullable(text(4000)),
    is_whole: Type.Boolean({ description: 'false: only the first part of the file was read.' }),
    list_key: Slug({
      description:
        'A key for a new list: the name of the list where its publisher is recognised, else the name of the file without dates and ' +
        'versions. With a list in the request, its key.',
    }),
    list_title: text(200, { description: 'A title for a new list.' }),
    candidates: listOf(Candidate, 20, { description: 'Best first.' }),
  },
  { title: 'Detection' },
)

export const PreviewRequest = closed(
  {
    list_key: Type.Optional(Slug({ description: 'Validate against the type of this list of the tenant.' })),
    type_key: Type.Optional(Slug({ description: 'Validate against this type; the adapter’s own when absent.' })),
    upload_id: Type.Optional(Id()),
    text: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500_000,
        pattern: '^[^\\u0000]*$',
        description: 'A sample instead of an upload.',
      }),
    ),
    options: Type.Optional(Options),
    limit: Type.Optional(integer(1, 100, { default: 20 })),
    delta: Type.Optional(DeltaPreviewBody),
  },
  {
    oneOf: [
      { type: 'object', required: ['upload_id'], properties: { upload_id: {} } },
      { type: 'object', required: ['text'], properties: { text: {} } },
    ],
  },
)
const SourceFile = closed(
  {
    file: nullable(Type.String({ description: 'Its name in the archive; null for a source that is one file.' })),
    state: oneOf(['read', 'unread', 'absent'], {
      description: 'unread: not part of what the adapter reads. absent: declared absent by an option.',
    }),
    holds: Type.Optional(Type.String({ description: 'Of an absent file: what the list lacks without it.' })),
    encoding: Type.Optional(oneOf(encodings)),
    encoding_from: Type.Optional(
      oneOf(encodingOrigins, { description: 'How it was determined: content means that it was detected.' }),
    ),
  },
  { title: 'SourceFile' },
)
export type SourceFileView = Static<typeof SourceFile>
const Files = listOf(SourceFile, 200, {
  description: 'The files of the source, including missing ones.',
})

export const PreviewReply = closed(
  {
    rows: Count,
    accepted: Count,
    rejected: Count,
    entries: listOf(closed({ at: LocationView, entry: registrySchemas.EntryValue }), 100),
    rejects: listOf(Reject, 100),
    reject_totals: listOf(closed({ code: text(100), pointer: Type.String(), count: Count }), 1000),
    warnings: listOf(Warning, 200),
    files: Files,
    truncated: nullable(
      closed({
        reason: oneOf(['rows', 'time']),
        limit: Type.Integer({ minimum: 0, description: 'Rows, or milliseconds.' }),
      }),
    ),
    delta: nullable(DeltaPreviewView),
  },
  { title: 'Preview' },
)

export const ImportRequest = closed({
  list_key: registrySchemas.ListKey,
  upload_id: Id(),
  adapter_key: AdapterKey,
  options: Type.Optional(Options),
  strict: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'true: a bad row prevents the version. false: bad rows are left out and counted.',
    }),
  ),
  drop: Type.Optional(Pointers),
  hash: Type.Optional(Pointers),
  label: Type.Optional(registrySchemas.Label),
  note: Type.Optional(text(2000)),
  expected_head: Type.Optional(ExpectedHead),
  on_unchanged: Type.Optional(
    oneOf(['publish', 'skip'], {
      default: 'publish',
      description: 'skip: no new version for the same content as the newest one.',
    }),
  ),
  override_guards: Type.Optional(GuardOverride),
  delta: Type.Optional(DeltaBody),
})

const Sha256 = text(64, { pattern: '^[0-9a-f]{64}$' })

/** Enough to repeat the same import, with or without overriding its guards. */
const ImportSettingsView = closed({
  options: Options,
  strict: Type.Boolean(),
  drop: Pointers,
  hash: Pointers,
  label: nullable(registrySchemas.Label),
  note: nullable(text(2000)),
  expected_head: nullable(ExpectedHead),
  on_unchanged: oneOf(['publish', 'skip']),
  override: nullable(closed({ by: text(200), reason: text(2000) })),
  delta: nullable(DeltaView),
  plugin: nullable(
    closed(
      {
        plugin_key: Slug(),
        version: registrySchemas.VersionNumber,
        content_hash: Sha256,
        configuration_hash: Sha256,
        sandbox_hash: Sha256,
      },
      {
        title: 'ImportPlugin',
        description: 'The plugin that reads the file, as it was in force when the import started.',
      },
    ),
  ),
})

export const importStates = [
  'queued',
  'running',
  'published',
  'unchanged',
  'rejected',
  'blocked',
  'failed',
  'cancelled',
] as const
export const ImportView = closed(
  {
    import_id: Id(),
    list_key: registrySchemas.ListKey,
    state: oneOf(importStates),
    job_id: nullable(Id()),
    adapter_key: AdapterKey,
    adapter_version: registrySchemas.VersionNumber,
    upload_id: nullable(Id()),
    order: nullable(ImportSettingsView),
    source: closed({
      file_name: nullable(text(500)),
      size_bytes: Count,
      sha256: nullable(
        text(64, {
          pattern: '^[0-9a-f]{64}$',
          description: 'Null where members were dropped or hashed: they could be guessed from it.',
        }),
      ),
      fingerprint: Type.Optional(
        text(64, {
          description: 'A keyed hash instead: equal for equal files, and useless without the key.',
        }),
      ),
    }),
    progress: closed({ done: Count, total: nullable(Count), unit: nullable(text(50)) }),
    counts: nullable(closed({ rows: Count, accepted: Count, rejected: Count, data_bytes: Count })),
    delta: nullable(DeltaCountsView),
    rejects: listOf(closed({ code: text(100), pointer: Type.String(), count: Count }), 1000, {
      description: 'Exact totals.',
    }),
    gates: listOf(registrySchemas.Gate, 100),
    warnings: listOf(Warning, 200),
    files: Files,
    version: nullable(registrySchemas.VersionNumber),
    problem: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    created_at: Timestamp(),
    created_by: text(200),
    finished_at: nullable(Timestamp()),
  },
  { title: 'Import' },
)
export const ImportPage = pageOf(ImportView)
export const ImportParams = closed({ import_id: Id() })
export const ImportQuery = closed({
  ...pageQuery,
  list_key: Type.Optional(registrySchemas.ListKey),
  state: Type.Optional(oneOf(importStates)),
})
export const RejectPage = closed(
  {
    items: Type.Array(closed({ seq: Count, ...Reject.properties })),
    total: Count,
    truncated: Type.Boolean({ description: 'Fewer rows are stored than were rejected.' }),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'RejectPage' },
)
export const RejectQuery = closed({ ...pageQuery, code: Type.Optional(text(100)) })
