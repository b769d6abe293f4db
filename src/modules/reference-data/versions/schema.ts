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
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

export const VersionPage = pageOf(registrySchemas.VersionView)
export const VersionWithData = closed(
  {
    ...registrySchemas.VersionView.properties,
    data: nullable(
      Type.Array(registrySchemas.EntryValue, {
        description: 'All entries in key order; null above 1 MiB, then export them.',
      }),
    ),
  },
  { title: 'DatasetVersionWithData' },
)

export const GuardOverride = closed(
  { reason: registrySchemas.Reason },
  { description: 'Overrides a breach of the guards; for compliance officers.' },
)
export const ExpectedHead = integer(0, Number.MAX_SAFE_INTEGER, {
  description: 'Refuse (409 head_moved) unless this is the newest version; 0 for a list without one.',
})
export const NewVersionBody = closed({
  data: listOf(registrySchemas.EntryValue, 100_000, { description: 'All entries of the new version.' }),
  label: Type.Optional(registrySchemas.Label),
  note: Type.Optional(text(2000)),
  expected_head: Type.Optional(ExpectedHead),
  override_guards: Type.Optional(GuardOverride),
})
export const VersionStateChange = closed({ state: oneOf(['deprecated', 'withdrawn']), reason: registrySchemas.Reason })

export const Provenance = closed(
  {
    list_key: registrySchemas.ListKey,
    list_origin: registrySchemas.Origin,
    version: registrySchemas.VersionNumber,
    origin: oneOf(['import', 'inline', 'seed', 'overlay', 'rebase'], { description: 'How the version was made.' }),
    created_at: Timestamp(),
    created_by: text(200),
    content_hash: registrySchemas.Sha256,
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
  origin: registrySchemas.OptionalOrigin,
  key_prefix: Type.Optional(text(500, { description: 'Only keys with this prefix.' })),
  q: Type.Optional(
    text(200, {
      description: 'Only entries with all these words or prefixes of words; case and accents are ignored.',
    }),
  ),
})
export const EntryPage = closed(
  {
    items: Type.Array(closed({ key: text(500), hash: registrySchemas.Sha256, entry: registrySchemas.EntryValue })),
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

export const SummaryRequest = closed(
  { origin: registrySchemas.OptionalOrigin, from: registrySchemas.VersionName, to: registrySchemas.VersionName },
  { title: 'DifferenceSummaryRequest' },
)
export const ProofQuery = closed({
  origin: registrySchemas.OptionalOrigin,
  key: text(500, { description: 'The business key.' }),
})
export const ProofView = closed(
  {
    list_key: registrySchemas.ListKey,
    version: registrySchemas.VersionNumber,
    origin: registrySchemas.Origin,
    key: text(500),
    present: Type.Boolean(),
    entry: nullable(registrySchemas.EntryValue),
    proof: closed({
      root: registrySchemas.Sha256,
      count: Count,
      key_hash: registrySchemas.Sha256,
      entry_hash: nullable(registrySchemas.Sha256),
      bucket: Type.Array(Type.Array(registrySchemas.Sha256, { minItems: 2, maxItems: 2 })),
      siblings: Type.Array(registrySchemas.Sha256),
    }),
  },
  { title: 'Proof' },
)

export const ExportQuery = closed({
  origin: registrySchemas.OptionalOrigin,
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
