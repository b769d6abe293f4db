/** Routes of drafts and published versions, and of the differences between two versions. */

import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import { getOrigin } from '../datasets/origin.ts'
import * as registrySchemas from '../schemas.ts'
import { getDifferencePage, toVersionView } from '../versions/publish.ts'
import { findVersion, listVersions, type VersionRow } from '../versions/queries.ts'
import {
  getDefinition,
  getInitialDraft,
  getVersionOrDraft,
  loadVersionText,
  lockOwnDefinition,
  type VersionOrDraft,
} from './document.ts'
import {
  type DefinitionKind,
  type DefinitionText,
  type Finding,
  getDefinitionKey,
  listHookCapabilities,
  readVersionParams,
  toKindReply,
  validationCapabilities,
} from './kind.ts'
import { publishDraft } from './publish.ts'
import { insertDraft, lockDraft, removeDraft, updateDraft } from './queries.ts'
import { type DefinitionSchemas, DraftText, NewDraft, PublishRequest } from './schema.ts'

/** A version or a draft in one shape. A published version never changes, so its revision is always 1. */
function toVersionTextView(kind: DefinitionKind, written: VersionOrDraft, findings: readonly Finding[] | null) {
  const { dataset, text, version, draft } = written
  return toKindReply({
    [kind.param]: dataset.list_key,
    origin: getOrigin(dataset.tenant_id),
    state: version?.state ?? 'draft',
    version: version?.version ?? null,
    label: version?.label ?? null,
    content_hash: version?.content_hash ?? null,
    note: version?.note ?? null,
    based_on: draft?.based_on ?? null,
    definition: text,
    reading: kind.describe(text),
    proof: (version?.provenance['proof'] as object | undefined) ?? null,
    findings,
    revision: draft?.revision ?? 1,
    created_at: version?.created_at ?? draft?.created_at,
    created_by: version?.created_by ?? draft?.created_by,
  })
}

const toVersionMetadata = (kind: DefinitionKind, key: string, version: VersionRow) => {
  const { list_key, list_origin, delta_base_version: _, ...rest } = toVersionView(key, version)
  return toKindReply({ [kind.param]: list_key, [`${kind.word}_origin`]: list_origin, ...rest })
}

/** Longer than 80 lines: a list of route declarations. */
export function createVersionRoutes(kind: DefinitionKind, s: DefinitionSchemas): Route[] {
  const { family, segment, param, word, operations } = kind
  const at = `/${segment}/:${param}` as const

  return [
    tenantRoute(`GET ${at}/versions`, {
      id: operations.listVersions,
      summary: 'Published versions, newest first, with state and hash',
      roles: everyone,
      tx: 'read',
      uses: ['cursors'],
      params: s.KeyParams,
      query: s.VersionQuery,
      reply: [200, s.VersionPage],
      problems: ['not_found'],
    }).handle(async (input) => {
      const { tx, params, query } = input
      const dataset = await getDefinition(tx, family, getDefinitionKey(kind, params), query.origin)
      const route = `${operations.listVersions} ${dataset.dataset_id}`
      const versions = await paginate(input, route, ['version'], (after, count) =>
        listVersions(tx, { dataset, state: query.state ?? null }, after, count),
      )
      return { ...versions, items: versions.items.map((row) => toVersionMetadata(kind, dataset.list_key, row)) }
    }),

    tenantRoute(`POST ${at}/versions`, {
      id: operations.createDraft,
      summary: `Open a draft of the ${word}: from a text, from a version, or from the one in force`,
      roles: ['policy_editor'],
      tx: 'write',
      uses: validationCapabilities,
      params: s.KeyParams,
      body: NewDraft,
      reply: [201, s.VersionWithText],
      revisioned: true,
      location: (reply) => `/${segment}/${getDefinitionKey(kind, reply)}/versions/draft`,
      problems: ['not_found', 'duplicate', 'conflict', 'transition_not_allowed', 'content_corrupt'],
    }).handle(async ({ tx, params, body, kernel, audit }) => {
      const dataset = await lockOwnDefinition(tx, family, getDefinitionKey(kind, params))
      if (body.definition && body.from_version) fail('conflict', 'Give the definition, or the version to begin from.')
      const loadInitialDraft = async (): Promise<{ based_on: number | null; text: DefinitionText }> => {
        if (body.definition) return { based_on: dataset.head_version || null, text: body.definition }
        if (body.from_version === undefined) return getInitialDraft(kernel, tx, kind, dataset)
        const from = assertReferenced(await findVersion(tx, dataset, body.from_version), `version ${body.from_version}`)
        return { based_on: from.version, text: await loadVersionText(kernel, tx, kind, { dataset, version: from }) }
      }
      const { based_on, text } = await loadInitialDraft()
      const draft = await insertDraft(tx, dataset, text, based_on)
      if (!draft) return fail('duplicate', 'A draft is open already; edit or delete it.')
      audit.recordDiff(null, { draft: true, based_on })
      const { findings } = await kind.validate(kernel, tx, { dataset, text })
      return toVersionTextView(kind, { dataset, text, version: null, draft }, findings)
    }),

    tenantRoute(`GET ${at}/versions/:version`, {
      id: operations.getVersion,
      summary: 'A version or the draft: its definition, a plain reading of it, and its proof or findings',
      roles: everyone,
      tx: 'read',
      uses: validationCapabilities,
      params: s.VersionParams,
      query: registrySchemas.OriginQuery,
      reply: [200, s.VersionWithText],
      revisioned: true,
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, kernel }) => {
      const written = await getVersionOrDraft(kernel, tx, kind, { ...params, ...readVersionParams(params), ...query })
      return toVersionTextView(
        kind,
        written,
        written.draft ? (await kind.validate(kernel, tx, written)).findings : null,
      )
    }),

    tenantRoute(`PUT ${at}/versions/:version`, {
      id: operations.updateDraft,
      summary: 'Edit the draft; faults are returned and prevent publication',
      roles: ['policy_editor'],
      tx: 'write',
      uses: validationCapabilities,
      params: s.DraftParams,
      body: DraftText,
      reply: [200, s.VersionWithText],
      revisioned: true,
      problems: ['not_found', 'transition_not_allowed'],
    }).handle(async (input) => {
      const { tx, params, body, kernel, audit } = input
      const dataset = await lockOwnDefinition(tx, family, getDefinitionKey(kind, params))
      assertRevision(assertFound(await lockDraft(tx, dataset)).revision, input)
      const draft = assertFound(await updateDraft(tx, dataset, body.definition))
      audit.recordDiff(null, { draft: true, draft_revision: draft.revision })
      const { findings } = await kind.validate(kernel, tx, { dataset, text: body.definition })
      return toVersionTextView(kind, { dataset, text: body.definition, version: null, draft }, findings)
    }),

    tenantRoute(`DELETE ${at}/versions/:version`, {
      id: operations.deleteDraft,
      summary: 'Delete the draft',
      roles: ['policy_editor'],
      tx: 'write',
      params: s.DraftParams,
      reply: [204, null],
      problems: ['not_found', 'transition_not_allowed'],
    }).handle(async ({ tx, params }) => {
      const dataset = await lockOwnDefinition(tx, family, getDefinitionKey(kind, params))
      if ((await removeDraft(tx, dataset)) === 0) fail('not_found')
      return undefined
    }),

    tenantRoute(`POST ${at}/versions/:version/publish`, {
      id: operations.publishDraft,
      summary: 'Prove the draft complete and publish it as a version; does not put it in force',
      description:
        'References, bands, completeness over all inputs and golden cases are checked against the lists in force; the ' +
        'version stores the list versions of its proof.',
      roles: ['policy_editor'],
      tx: 'write',
      uses: validationCapabilities,
      params: s.DraftParams,
      body: PublishRequest,
      reply: [201, s.Version],
      location: (reply) =>
        `/${segment}/${getDefinitionKey(kind, reply)}/versions/${(reply as { version: number }).version}?origin=own`,
      problems: [
        'not_found',
        'definition_invalid',
        'not_analysable',
        'duplicate',
        'revision_stale',
        'precondition_failed',
        'transition_not_allowed',
        'content_corrupt',
      ],
    }).handle(async (input) => {
      const { tx, params, body, kernel, audit } = input
      const key = getDefinitionKey(kind, params)
      const dataset = await lockOwnDefinition(tx, family, key)
      const draft = assertFound(await lockDraft(tx, dataset))
      assertRevision(draft.revision, input)
      const version = await publishDraft(kernel, tx, kind, { dataset, draft, ...body })
      await removeDraft(tx, dataset)
      const { content_hash, difference, label, note } = version
      audit.recordDiff(null, { version: version.version, label, note, content_hash, difference })
      return toVersionMetadata(kind, key, version)
    }),

    tenantRoute(`GET ${at}/diff`, {
      id: operations.diffVersions,
      summary: 'What changed between two versions, factor by factor and field by field',
      roles: everyone,
      tx: 'read',
      uses: ['cursors', ...listHookCapabilities(kind.difference)],
      params: s.KeyParams,
      query: s.DifferenceQuery,
      reply: [200, s.DifferencePage],
      problems: ['not_found', 'content_corrupt'],
    }).handle(async (input) => {
      const dataset = await getDefinition(input.tx, family, getDefinitionKey(kind, input.params), input.query.origin)
      const difference = await getDifferencePage(input, operations.diffVersions, dataset)
      const compared = await kind.difference?.compare(input.kernel, input.tx, { dataset, ...difference })
      return toKindReply({ [param]: dataset.list_key, ...difference, ...compared })
    }),
  ]
}
