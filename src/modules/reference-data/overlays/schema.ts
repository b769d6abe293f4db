/** Wire contract of overlays: a tenant's changes on a shared list. */
import { Count, closed, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { EntryValue, ListKey, Reason, ResolvedList, Sha256, VersionNumber } from '../schema.ts'

const Operation = closed({
  key: text(500),
  op: oneOf(['put', 'merge', 'remove'], {
    description: 'put: the whole entry. merge: RFC 7396, null removes a member. remove: removes the entry.',
  }),
  value: Type.Optional(EntryValue),
})
export const OverlayRequest = closed({
  entries: listOf(Operation, 10_000, { minItems: 1, description: 'The whole overlay; it replaces the one before.' }),
  mode: Type.Optional(
    oneOf(['follow', 'pinned'], {
      default: 'follow',
      description:
        'follow: applies to the base in force. pinned: applies only to the base version it was written against.',
    }),
  ),
  reason: Reason,
})

const Conflict = closed(
  {
    key: text(500),
    kind: oneOf(['changed-under-patch', 'removed', 'redundant', 'policy-violating', 'invalid'], {
      description:
        'invalid: applied to the current shared entry, the change gives an entry that is not valid for the type.',
    }),
    detail: text(1000),
    base: nullable(EntryValue),
    ours: nullable(EntryValue),
    theirs: nullable(EntryValue),
  },
  {
    title: 'OverlayConflict',
    description: 'base: the entry it was written against, ours: with our change, theirs: the shared entry now.',
  },
)

export const OverlayView = closed(
  {
    list_key: ListKey,
    overlay_policy: oneOf(['none', 'add_only', 'tighten_only', 'free']),
    base: nullable(ResolvedList),
    overlay: nullable(
      closed({
        version: VersionNumber,
        content_hash: Sha256,
        base_version: nullable(VersionNumber),
        created_at: Timestamp(),
        created_by: text(200),
        entries: listOf(
          closed({
            key: text(500),
            op: oneOf(['put', 'merge', 'remove']),
            value: nullable(EntryValue),
            effective: nullable(EntryValue),
          }),
          10_000,
        ),
      }),
    ),
    conflicts: listOf(Conflict, 10_000),
  },
  { title: 'Overlay' },
)

export const RebaseRequest = closed({
  resolutions: Type.Optional(
    Type.Unsafe<Record<string, 'ours' | 'theirs'>>({
      type: 'object',
      description: 'By key: keep our change on the current entry, or use the shared one.',
      propertyNames: { maxLength: 500 },
      additionalProperties: { type: 'string', enum: ['ours', 'theirs'] },
      maxProperties: 10_000,
    }),
  ),
  apply: Type.Optional(Type.Boolean({ default: false, description: 'false: only list what would be in conflict.' })),
  reason: Type.Optional(Reason),
})
export const RebaseReply = closed(
  {
    list_key: ListKey,
    applied: Type.Boolean(),
    version: nullable(VersionNumber),
    clean: Count,
    dropped: listOf(text(500), 10_000, { description: 'Changes that the shared list now contains.' }),
    conflicts: listOf(Conflict, 10_000),
  },
  { title: 'Rebase' },
)
