/** Wire contract of versions and of their differences. */
import {
  Count,
  closed,
  integer,
  listOf,
  nullable,
  oneOf,
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
export const VersionQuery = closed({
  ...pageQuery,
  origin: OptionalOrigin,
  state: Type.Optional(oneOf(['published', 'deprecated', 'withdrawn'])),
})

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
