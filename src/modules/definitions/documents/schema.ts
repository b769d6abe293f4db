/** Wire contract of document definitions. Kinds differ only in names. */
import {
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  Slug,
  Timestamp,
  type TSchema,
  Type,
  text,
} from '#kernel/schema.ts'
import type { ContentPointer } from '../resolve/queries.ts'
import * as registrySchemas from '../schemas.ts'
import type { DefinitionKind } from './kind.ts'

export const Definition = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })
const Facts = (description: string) => Type.Unsafe<Record<string, unknown>>({ type: 'object', description })

export const FindingView = closed(
  {
    code: text(100),
    pointer: Type.String({ description: 'JSON Pointer into the definition or the inputs; empty for the whole.' }),
    message: Type.String(),
    severity: oneOf(['error', 'warning']),
    example: Type.Optional(Facts('Inputs that show the fault.')),
  },
  { title: 'Finding' },
)
export const Findings = listOf(FindingView, 10_000, { description: 'All findings about the definition.' })

export const ListVersion = closed(
  {
    list_key: Slug(),
    via: oneOf(['tenant-own', 'tenant-pin', 'shared']),
    version: registrySchemas.VersionNumber,
    content_hash: registrySchemas.Sha256,
    overlay_version: nullable(registrySchemas.VersionNumber),
    overlay_hash: nullable(registrySchemas.Sha256),
  },
  { title: 'ListVersion' },
)

/** Versions of lists that something was checked against. */
export const toListVersions = (lists: ReadonlyMap<string, ContentPointer>) =>
  [...lists.values()].map(({ list_key, via, version, content_hash, overlay_version, overlay_hash }) => ({
    list_key,
    via,
    version,
    content_hash,
    overlay_version,
    overlay_hash,
  }))

const tags = (description: string) => listOf(text(100), 100, { uniqueItems: true, description })
const profile = {
  subject_types: tags('Whom it is meant for; nothing is decided by it.'),
  products: tags('For which products.'),
  typologies: tags('Which typologies it covers.'),
}
const settings = {
  title: text(200),
  description: nullable(text(4000)),
  owner: nullable(text(200, { description: 'Who is responsible for it.' })),
  review_every_days: nullable(integer(1, 3660)),
  stale_after_days: nullable(integer(1, 3660)),
}
const optional = <P extends Record<string, TSchema>>(properties: P): Record<string, TSchema> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]))

export const DraftText = closed({
  definition: Definition('What is worked on. Any JSON object is kept; the answer says what is wrong with it.'),
  expected_revision: ExpectedRevision,
})
export const NewDraft = closed({
  definition: Type.Optional(Definition('What to begin with.')),
  from_version: Type.Optional(registrySchemas.VersionNumber),
})
export const PublishRequest = closed({
  label: Type.Optional(registrySchemas.Label),
  note: Type.Optional(text(2000, { description: 'What changed and why.' })),
  expected_revision: ExpectedRevision,
})
/** Replaces the list's key and origin in a shared schema by those of the definition. */
function withDefinitionKey(kind: DefinitionKind, schema: { properties: Record<string, TSchema> }, title: string) {
  // Documents are edited, not imported, so they have no deltas.
  const { list_key: _, list_origin, delta_base_version: _d, ...rest } = schema.properties
  const names = { [kind.param]: Slug(), ...(list_origin && { [`${kind.word}_origin`]: list_origin }) }
  return closed({ ...names, ...rest }, { title: `${kind.noun}${title}` })
}

/** Longer than 80 lines: a list of schema declarations. */
export function createDefinitionSchemas(kind: DefinitionKind) {
  const changeable = { ...settings, ...(kind.has_profile && profile) }
  const Key = Slug({ description: `Name of the ${kind.word}.`, examples: [kind.example] })
  const {
    list_key: _k,
    type_key: _t,
    guards: _g,
    overlay_policy: _o,
    origin,
    state,
    head_version,
    active,
    pending,
    versions,
    versions_total,
    stale_since,
    review_due_at,
    created_at,
    created_by,
    updated_at,
  } = registrySchemas.Dataset.properties
  const view = {
    [kind.param]: Key,
    origin,
    ...changeable,
    state,
    head_version,
    active,
    pending,
    versions,
    versions_total,
    draft: nullable(
      closed({
        revision: Revision,
        based_on: nullable(registrySchemas.VersionNumber),
        updated_at: Timestamp(),
        updated_by: text(200),
      }),
    ),
    stale_since,
    review_due_at,
    created_at,
    created_by,
    updated_at,
    revision: Revision,
  }
  const version = withDefinitionKey(kind, registrySchemas.VersionView, 'Version')
  const Activation = withDefinitionKey(kind, registrySchemas.Activation, 'Activation')
  const Item = closed(view, { title: `${kind.noun}Item` })
  return {
    KeyParams: closed({ [kind.param]: Key }),
    VersionParams: closed({
      [kind.param]: Key,
      version: registrySchemas.VersionText('A version number, a label, or the word draft.'),
    }),
    DraftParams: closed({ [kind.param]: Key, version: oneOf(['draft']) }),
    ActivationParams: closed({ [kind.param]: Key, activation_id: Id() }),
    CaseParams: closed({ [kind.param]: Key, case_id: Id() }),
    Page: pageOf(Item),
    View: closed(
      {
        ...view,
        attention: listOf(FindingView, 10_000, {
          description: 'Findings about the version in force with the current lists.',
        }),
      },
      { title: kind.noun },
    ),
    Query: closed({
      ...pageQuery,
      origin: Type.Optional(registrySchemas.Origin),
      state: Type.Optional(oneOf(['live', 'archived'])),
      key_prefix: Type.Optional(Slug({ description: 'Only those whose key has this prefix.' })),
      ...(kind.has_profile && { typology: Type.Optional(text(100, { description: 'Only those that cover it.' })) }),
    }),
    New: closed({
      [kind.param]: Key,
      ...optional(changeable),
      title: settings.title,
      definition: Type.Optional(Definition('The first draft.')),
      from_key: Type.Optional(Slug({ description: `Start with the version in force of this ${kind.word}.` })),
    }),
    Change: closed({ ...optional(changeable), expected_revision: ExpectedRevision }),
    VersionPage: pageOf(version),
    VersionQuery: registrySchemas.VersionQuery,
    Version: version,
    VersionWithText: closed(
      {
        [kind.param]: Slug(),
        origin,
        state: oneOf(['draft', 'published', 'deprecated', 'withdrawn']),
        version: nullable(registrySchemas.VersionNumber),
        label: nullable(registrySchemas.Label),
        content_hash: nullable(registrySchemas.Sha256),
        note: nullable(text(2000)),
        based_on: nullable(registrySchemas.VersionNumber),
        definition: Definition(`The ${kind.word} as it is written.`),
        reading: listOf(Type.String(), 10_000, { description: 'The definition in plain words.' }),
        proof: nullable(Facts('What it was proved against when it was published.')),
        findings: nullable(listOf(FindingView, 10_000, { description: 'Of a draft.' })),
        revision: Revision,
        created_at: Timestamp(),
        created_by: text(200),
      },
      { title: `${kind.noun}Text` },
    ),
    DifferenceQuery: registrySchemas.DifferenceQuery,
    DifferencePage: closed(
      {
        ...withDefinitionKey(kind, registrySchemas.DifferencePage, 'Difference').properties,
        ...kind.difference?.members,
      },
      { title: `${kind.noun}Difference` },
    ),
    ActivationRequest: closed({ ...registrySchemas.ActivationRequest.properties, ...kind.activation?.members }),
    SubmissionRequest: closed({ ...registrySchemas.SubmissionRequest.properties, ...kind.activation?.members }),
    Activation,
    Timeline: closed(
      { ...registrySchemas.Timeline.properties, items: Type.Array(Activation) },
      { title: `${kind.noun}Timeline` },
    ),
    Rollback: closed(
      { activation: Activation, revoked: listOf(Activation, 1000), review_id: registrySchemas.BreakGlassReviewId },
      { title: `${kind.noun}Rollback` },
    ),
    Dependencies: closed(
      {
        [kind.param]: Slug(),
        origin,
        version: nullable(registrySchemas.VersionNumber),
        items: listOf(
          closed({
            list_key: Slug(),
            in_force: nullable(ListVersion),
            read_at: listOf(
              closed({ pointer: Type.String(), key: nullable(Type.String()), field: nullable(Type.String()) }),
              100_000,
              { description: 'Where in the definition it is read.' },
            ),
          }),
          1000,
        ),
      },
      { title: `${kind.noun}Dependencies` },
    ),
  }
}
export type DefinitionSchemas = ReturnType<typeof createDefinitionSchemas>
