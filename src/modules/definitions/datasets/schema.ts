/** Wire contract of the master record of a definition: its settings, its owner, and the version in force. */
import {
  Count,
  closed,
  integer,
  listOf,
  nullable,
  oneOf,
  Revision,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { Label, ListKey, Origin, Sha256, VersionNumber } from '../schema.ts'

const BasisPoints = integer(0, 10_000, { description: 'Basis points: 1000 is ten per cent.' })
export const Guards = closed(
  {
    min_entries: Type.Optional(integer(0, 100_000_000, { description: 'Minimum number of entries; default 1.' })),
    max_entries: Type.Optional(integer(1, 100_000_000)),
    max_removed_bps: Type.Optional(BasisPoints),
    max_removed_entries: Type.Optional(
      integer(0, 100_000_000, { description: 'This many may always be removed, whatever their share of the list.' }),
    ),
    max_changed_bps: Type.Optional(BasisPoints),
    min_filled_bps: Type.Optional(
      Type.Unsafe<Record<string, number>>({
        type: 'object',
        description: 'By JSON pointer: the share of entries that must have the member.',
        propertyNames: { pattern: '^(/[^/\\u0000]+)+$', maxLength: 200 },
        additionalProperties: BasisPoints,
        maxProperties: 50,
      }),
    ),
    max_members_lost_bps: Type.Optional(
      integer(0, 10_000, {
        description:
          'For each member that holds several values (aliases, addresses …): the largest share of its values that entries which ' +
          'stay may lose, in basis points; 1000 unless said otherwise. Values every entry must have are not counted.',
      }),
    ),
    max_members_lost: Type.Optional(
      integer(0, 100_000_000, { description: 'This many values may always be lost; default 10.' }),
    ),
    max_emptied_bps: Type.Optional(
      integer(0, 10_000, {
        description:
          'For each such member: the largest share of the entries with values that may lose all of them, in basis points; 1000 ' +
          'unless said otherwise.',
      }),
    ),
    max_emptied_entries: Type.Optional(
      integer(0, 100_000_000, { description: 'This many entries may always lose all values; default 10.' }),
    ),
    max_orphan_rows: Type.Optional(
      integer(0, 100_000_000, {
        description: 'Maximum number of rows of other files that belong to no entry; default 0.',
      }),
    ),
  },
  { title: 'Guards', description: 'Limits for a new version; a breach can be overridden with a reason.' },
)

export const VersionSummary = closed(
  {
    version: VersionNumber,
    label: nullable(Label),
    state: oneOf(['published', 'deprecated', 'withdrawn']),
    content_hash: Sha256,
    entry_count: Count,
    created_at: Timestamp(),
  },
  { title: 'VersionSummary' },
)

export const Dataset = closed(
  {
    list_key: ListKey,
    origin: Origin,
    type_key: Slug(),
    title: text(200),
    description: nullable(text(4000)),
    owner: nullable(text(200)),
    review_every_days: nullable(integer(1, 3660)),
    stale_after_days: nullable(integer(1, 3660)),
    guards: Guards,
    overlay_policy: oneOf(['none', 'add_only', 'tighten_only', 'free']),
    state: oneOf(['live', 'archived']),
    head_version: Count,
    active: nullable(
      closed({
        version: VersionNumber,
        via: oneOf(['tenant-own', 'tenant-pin', 'shared']),
        content_hash: Sha256,
        effective_from: Timestamp(),
        overlay_version: nullable(VersionNumber),
      }),
    ),
    pending: listOf(closed({ version: nullable(VersionNumber), effective_from: Timestamp(), reason: text(2000) }), 50),
    versions: listOf(VersionSummary, 50, { description: 'The newest fifty.' }),
    versions_total: Count,
    stale_since: nullable(Timestamp({ description: 'Since when the version in force is older than the limit.' })),
    review_due_at: nullable(Timestamp()),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'Dataset' },
)
