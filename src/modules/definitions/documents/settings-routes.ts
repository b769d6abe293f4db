/** Routes to list, create, read, update and archive definitions, and to list what they depend on. */

import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { findInheritedRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { GovernedChange, Route } from '#kernel/route.ts'
import { lockActivations } from '../activations/queries.ts'
import { getOrigin, hasGovernedChange, toViewEtag } from '../datasets/origin.ts'
import { findDatasetForWrite, listDatasets, updateDataset } from '../datasets/queries.ts'
import { findPointersInForce } from '../resolve/resolver.ts'
import * as registrySchemas from '../schemas.ts'
import {
  addProfiles,
  createDefinition,
  getCurrentText,
  getDefinition,
  getDefinitionView,
  lockOwnDefinition,
  type NewDefinition,
  toDefinitionView,
} from './document.ts'
import { type DefinitionKind, getDefinitionKey, toKindReply, validationCapabilities } from './kind.ts'
import { findProfiles, type ProfileRow, upsertProfile } from './queries.ts'
import { type DefinitionSchemas, toListVersions } from './schema.ts'

/** Longer than 80 lines: a list of route declarations. */
export function createSettingsRoutes(kind: DefinitionKind, s: DefinitionSchemas): Route[] {
  const { family, segment, param, word, operations } = kind
  const at = `/${segment}/:${param}` as const
  const head = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
    const dataset = params[param] === undefined ? undefined : await findDatasetForWrite(tx, params[param], family)
    return dataset ? `${dataset.dataset_id}:${dataset.revision}` : null
  }

  /** Descriptive settings may be changed without approval. */
  const isGovernedChange = async (tx: Tx, _rule: unknown, { params, body }: GovernedChange): Promise<boolean> => {
    const dataset = await findDatasetForWrite(tx, getDefinitionKey(kind, params), family)
    return dataset === undefined || hasGovernedChange(dataset, body)
  }

  return [
    tenantRoute(`GET /${segment}`, {
      id: operations.list,
      summary: `List ${segment.replace('-', ' ')} with their versions and the one in force`,
      roles: everyone,
      tx: 'read',
      uses: ['cursors'],
      query: s.Query,
      reply: [200, s.Page],
    }).handle(async (input) => {
      const { origin = null, state = null, key_prefix = null } = input.query
      const { typology = null } = input.query as { typology?: string }
      const { items, next_cursor } = await paginate(
        input,
        operations.list,
        ['list_key', 'dataset_id'],
        (after, count) =>
          listDatasets(input.tx, { family, origin, state, type_key: null, key_prefix, typology }, after, count),
      )
      const rows = await addProfiles(input.tx, items)
      return { items: rows.map((row) => toKindReply(toDefinitionView(kind, row))), next_cursor }
    }),

    tenantRoute(`POST /${segment}`, {
      id: operations.create,
      summary: `Create a ${word} with a first draft`,
      description:
        `A tenant may have its own ${word} under the key of a shared one. The shared one goes on deciding until a version of the ` +
        'own one is put in force, and both stay readable: `origin` says which is meant.',
      roles: ['policy_editor'],
      tx: 'write',
      uses: validationCapabilities,
      body: s.New,
      reply: [201, s.View],
      revisioned: true,
      location: (reply) => `/${segment}/${getDefinitionKey(kind, reply)}?origin=own`,
      links: { [operations.get]: { [param]: param, origin: 'origin' } },
      problems: ['not_found', 'duplicate', 'list_key_reserved', 'conflict'],
    }).handle(async ({ tx, body, audit, kernel }) => {
      const { [param]: key, ...rest } = body as unknown as Record<string, unknown>
      const { definition: _, ...settings } = rest
      await createDefinition(kernel, tx, kind, { ...rest, key } as unknown as NewDefinition)
      audit.recordDiff(null, { [param]: key, ...settings })
      return getDefinitionView(kernel, tx, kind, { key: key as string, origin: 'own' })
    }),

    tenantRoute(`GET ${at}`, {
      id: operations.get,
      summary: `One ${word}: what it is for, its versions, the one in force, and whether that still holds`,
      ...(kind.tools?.get && { tool: kind.tools.get }),
      roles: everyone,
      tx: 'read',
      uses: validationCapabilities,
      params: s.KeyParams,
      query: registrySchemas.OriginQuery,
      reply: [200, s.View],
      revisioned: true,
      headers: (view) => ({ etag: toViewEtag(view) }),
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, kernel }) =>
      getDefinitionView(kernel, tx, kind, { key: getDefinitionKey(kind, params), ...query }),
    ),

    tenantRoute(`PATCH ${at}`, {
      id: operations.update,
      summary: 'Change title, owner, description, review cadence or what it is for',
      description:
        'Only a change of the review cadence or the staleness limit may wait for approval: as `datasets`, or, where the policy does ' +
        'not name that, as `activation`.',
      roles: ['policy_editor'],
      tx: 'write',
      uses: validationCapabilities,
      params: s.KeyParams,
      body: s.Change,
      reply: [200, s.View],
      revisioned: true,
      governed: {
        action: 'datasets',
        head,
        findDefaultRule: (tx) => findInheritedRule(tx, 'activation'),
        requiresApproval: isGovernedChange,
      },
      problems: ['not_found', 'transition_not_allowed'],
    }).handle(async (input) => {
      const { tx, params, body, audit, kernel } = input
      const dataset = await lockOwnDefinition(tx, family, getDefinitionKey(kind, params))
      assertRevision(dataset.revision, input)
      const { expected_revision: _, ...change } = body as Partial<ProfileRow> & Record<string, unknown>
      const [before = { subject_types: [], products: [], typologies: [] }] = await findProfiles(tx, [dataset])
      const changed = assertFound(await updateDataset(tx, { ...dataset, ...change }))
      const { subject_types, products, typologies } = { ...before, ...change }
      await upsertProfile(tx, dataset, { subject_types, products, typologies })
      audit.recordDiff({ ...dataset, ...before }, { ...changed, subject_types, products, typologies })
      return getDefinitionView(kernel, tx, kind, { key: dataset.list_key, origin: 'own' })
    }),

    tenantRoute(`POST ${at}/archive`, {
      id: operations.archive,
      summary: `Retire a ${word} of which nothing is in force; its history stays readable`,
      roles: ['policy_editor', 'compliance_officer'],
      tx: 'write',
      uses: validationCapabilities,
      params: s.KeyParams,
      reply: [200, s.View],
      governed: { action: 'datasets', head },
      problems: ['not_found', 'transition_not_allowed', 'conflict'],
    }).handle(async ({ tx, params, audit, kernel }) => {
      const key = getDefinitionKey(kind, params)
      await lockActivations(tx, family, key)
      const dataset = await lockOwnDefinition(tx, family, key)
      const inForce = (await findPointersInForce(tx, [key], {}, family)).get(key)
      if (inForce?.dataset_id === dataset.dataset_id) {
        fail('conflict', `Version ${inForce.version} of ${key} is in force.`)
      }
      audit.recordDiff({ state: dataset.state }, { state: 'archived' })
      await updateDataset(tx, { ...dataset, state: 'archived' })
      return getDefinitionView(kernel, tx, kind, { key, origin: 'own' })
    }),

    tenantRoute(`GET ${at}/dependencies`, {
      id: operations.listDependencies,
      summary: `The lists this ${word} reads, with the version of each that is in force`,
      description: 'Of the version in force, or of the newest one while none is.',
      roles: everyone,
      tx: 'read',
      uses: ['caches'],
      params: s.KeyParams,
      query: registrySchemas.OriginQuery,
      reply: [200, s.Dependencies],
      problems: ['not_found', 'content_corrupt'],
    }).handle(async ({ tx, params, query, kernel }) => {
      const dataset = await getDefinition(tx, family, getDefinitionKey(kind, params), query.origin)
      const { version, text } = await getCurrentText(kernel, tx, kind, dataset)
      const { lists: read, references } = await kind.findReferences(tx, text)
      const lists = new Map(toListVersions(read).map((list) => [list.list_key, list]))
      const keys = [...new Set(references.map(({ list_key }) => list_key))].sort()
      const items = keys.map((list_key) => ({
        list_key,
        in_force: lists.get(list_key) ?? null,
        read_at: references
          .filter((reference) => reference.list_key === list_key)
          .map(({ pointer, key, field }) => ({ pointer, key, field })),
      }))
      return toKindReply({ [param]: dataset.list_key, origin: getOrigin(dataset.tenant_id), version, items })
    }),
  ]
}
