/** Wire contract of versions, their entries, differences and proofs. */
import {
  Count,
  closed,
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
import {
  AnyJson,
  Difference,
  EntryValue,
  Label,
  ListKey,
  OptionalOrigin,
  Origin,
  Reason,
  Sha256,
  VersionName,
  VersionNumber,
} from '../schema.ts'

const metadata = {
  list_key: ListKey,
  list_origin: Origin,
  version: VersionNumber,
  label: nullable(Label),
  state: oneOf(['published', 'deprecated', 'withdrawn']),
  type_key: Slug(),
  type_version: VersionNumber,
  content_hash: Sha256,
  content_changed: Type.Boolean({ description: 'Whether it differs from the version before it.' }),
  entry_count: Count,
  data_bytes: Count,
  origin: oneOf(['import', 'inline', 'seed', 'overlay', 'rebase'], { description: 'How the version was made.' }),
  difference: Difference,
  delta_base_version: nullable(
    integer(1, Number.MAX_SAFE_INTEGER, {
      description: 'For a delta import: the version the changes were applied to.',
    }),
  ),
  note: nullable(text(2000)),
  created_at: Timestamp(),
  created_by: text(200),
}
export const VersionView = closed(metadata, { title: 'DatasetVersion' })
export const VersionPage = pageOf(VersionView)
export const VersionQuery = closed({
  ...pageQuery,
  origin: OptionalOrigin,
  state: Type.Optional(oneOf(['published', 'deprecated', 'withdrawn'])),
})
export const VersionWithData = closed(
  {
    ...metadata,
    data: nullable(
      Type.Array(EntryValue, { description: 'All entries in key order; null above 1 MiB, then export them.' }),
    ),
  },
  { title: 'DatasetVersionWithData' },
)

export const GuardOverride = closed(
  { reason: Reason },
  { description: 'Overrides a breach of the guards; for compliance officers.' },
)
export const ExpectedHead = integer(0, Number.MAX_SAFE_INTEGER, {
  description: 'Refuse (409 head_moved) unless this is the newest version; 0 for a list without one.',
})
export const NewVersionBody = closed({
  data: listOf(EntryValue, 100_000, { description: 'All entries of the new version.' }),
  label: Type.Optional(Label),
  note: Type.Optional(text(2000)),
  expected_head: Type.Optional(ExpectedHead),
  override_guards: Type.Optional(GuardOverride),
})
export const VersionStateChange = closed({ state: oneOf(['deprecated', 'withdrawn']), reason: Reason })

export const Provenance = closed(
  {
    list_key: ListKey,
    list_origin: Origin,
    version: VersionNumber,
    origin: oneOf(['import', 'inline', 'seed', 'overlay', 'rebase'], { description: 'How the version was made.' }),
    created_at: Timestamp(),
    created_by: text(200),
    content_hash: Sha256,
    provenance: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description:
        'Adapter and its version, the file’s name and its own sha256 (a keyed fingerprint where members were dropped or hashed), ' +
        'options, dropped or hashed members, overridden guards; of a delta its base version and counts.',
    }),
    activations: listOf(
      closed({
        activation_id: text(36),
        effective_from: Timestamp(),
        actor: text(200),
        reason: text(2000),
        cr_id: nullable(text(36)),
      }),
      100,
    ),
  },
  { title: 'Provenance' },
)

export const EntryQuery = closed({
  ...pageQuery,
  origin: OptionalOrigin,
  key_prefix: Type.Optional(text(500, { description: 'Only keys with this prefix.' })),
  q: Type.Optional(
    text(200, {
      description: 'Only entries with all these words or prefixes of words; case and accents are ignored.',
    }),
  ),
})
export const EntryPage = closed(
  {
    items: Type.Array(closed({ key: text(500), hash: Sha256, entry: EntryValue })),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    index: nullable(
      oneOf(['ready', 'building', 'not_needed'], {
        description:
          'How a search was answered: from the index, without it while it is built, or without it in a short list.',
      }),
    ),
  },
  { title: 'EntryPage' },
)

const Change = closed({
  pointer: Type.String(),
  before: Type.Optional(AnyJson('Absent when added.')),
  after: Type.Optional(AnyJson('Absent when removed.')),
})
export const DifferenceQuery = closed({
  ...pageQuery,
  from: VersionName,
  to: VersionName,
  origin: OptionalOrigin,
  from_origin: Type.Optional(
    oneOf(['own', 'shared'], { description: 'Whose version `from` is; of the same owner as `to` when absent.' }),
  ),
  key_prefix: Type.Optional(text(500)),
  format: Type.Optional(
    oneOf(['changes', 'json-patch'], {
      default: 'changes',
      description:
        'json-patch: each item has a patch (RFC 6902) on the object of all entries by key; the patches of all pages, one after ' +
        'the other, make the one version the other.',
    }),
  ),
})
export const SummaryRequest = closed(
  { origin: OptionalOrigin, from: VersionName, to: VersionName },
  { title: 'DifferenceSummaryRequest' },
)
export const DifferencePage = closed(
  {
    list_key: ListKey,
    from: VersionNumber,
    to: VersionNumber,
    from_origin: Origin,
    to_origin: Origin,
    from_hash: Sha256,
    to_hash: Sha256,
    summary: nullable(
      closed({
        added: Count,
        removed: Count,
        changed: Count,
        fields: listOf(closed({ pointer: Type.String(), changed: Count }), 200),
        exact: Type.Boolean({ description: 'False while the fields are not counted.' }),
      }),
    ),
    summary_state: nullable(
      oneOf(['complete', 'partial', 'pending'], {
        description:
          'With the first page: `partial` while the fields are not counted, `pending` while nothing is; see diff-summaries.',
      }),
    ),
    items: Type.Array(
      closed({
        op: oneOf(['added', 'removed', 'changed']),
        key: text(500),
        before: nullable(EntryValue),
        after: nullable(EntryValue),
        changes: Type.Array(Change),
        patch: Type.Optional(
          Type.Array(
            closed({
              op: oneOf(['add', 'remove', 'replace']),
              path: Type.String(),
              value: Type.Optional(AnyJson('')),
            }),
          ),
        ),
      }),
    ),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'DifferencePage' },
)

export const ProofQuery = closed({ origin: OptionalOrigin, key: text(500, { description: 'The business key.' }) })
export const ProofView = closed(
  {
    list_key: ListKey,
    version: VersionNumber,
    origin: Origin,
    key: text(500),
    present: Type.Boolean(),
    entry: nullable(EntryValue),
    proof: closed({
      root: Sha256,
      count: Count,
      key_hash: Sha256,
      entry_hash: nullable(Sha256),
      bucket: Type.Array(Type.Array(Sha256, { minItems: 2, maxItems: 2 })),
      siblings: Type.Array(Sha256),
    }),
  },
  { title: 'Proof' },
)

export const ExportQuery = closed({
  origin: OptionalOrigin,
  format: Type.Optional(oneOf(['json', 'ndjson', 'csv', 'xlsx'], { default: 'json' })),
  formula_guard: Type.Optional(
    Type.Boolean({
      default: true,
      description:
        'Prefixes cells and headers a spreadsheet would run as a formula with an apostrophe (csv and xlsx): those that begin with =, +, - or @, ' +
        'also full-width, with or without white space before it. Without the guard a file reads back exactly.',
    }),
  ),
})
