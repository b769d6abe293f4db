/** Wire contract of overlays: a tenant's changes on a shared list. */
import { Count, closed, listOf, nullable, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas } from '#modules/definitions/index.ts'

import { ResolvedList } from '../schema.ts'

const Operation = closed({
  key: text(500),
  op: oneOf(['put', 'merge', 'remove'], {
    description: 'put: the whole entry. merge: RFC 7396, null removes a member. remove: removes the entry.',
  }),
  value: Type.Optional(registrySchemas.EntryValue),
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
  reason: registrySchemas.Reason,
})

const Conflict = closed(
  {
    key: text(500),
    kind: oneOf(['changed-under-patch', 'removed', 'redundant', 'policy-violating', 'invalid'], {
      description:
        'invalid: applied to the current shared entry, the change gives an entry that is not valid for the type.',
    }),
    detail: text(1000),
    base: nullable(registrySchemas.EntryValue),
    ours: nullable(registrySchemas.EntryValue),
    theirs: nullable(registrySchemas.EntryValue),
  },
  {
    title: 'OverlayConflict',
    description: 'base: the entry it was written against, ours: with our change, theirs: the shared entry now.',
  },
)

export const OverlayView = closed(
  {
    list_key: registrySchemas.ListKey,
    overlay_policy: oneOf(['none', 'add_only', 'tighten_only', 'free']),
    base: nullable(ResolvedList),
    overlay: nullable(
      closed({
        version: registrySchemas.VersionNumber,
        content_hash: registrySchemas.Sha256,
        base_version: nullable(registrySchemas.VersionNumber),
        created_at: Timestamp(),
        created_by: text(200),
        entries: listOf(
          closed({
            key: text(500),
            op: oneOf(['put', 'merge', 'remove']),
            value: nullable(registrySchemas.EntryValue),
            effective: nullable(registrySchemas.EntryValue),
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
  reason: Type.Optional(registrySchemas.Reason),
})
export const RebaseReply = closed(
  {
    list_key: registrySchemas.ListKey,
    applied: Type.Boolean(),
    version: nullable(registrySchemas.VersionNumber),
    clean: Count,
    dropped: listOf(text(500), 10_000, { description: 'Changes that the shared list now contains.' }),
    conflicts: listOf(Conflict, 10_000),
  },
  { title: 'Rebase' },
)
