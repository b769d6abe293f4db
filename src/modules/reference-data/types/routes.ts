/** Routes of dataset types: the shape and key of list entries, and which data a new version would break. */
import { hash } from 'node:crypto'
import { everyone } from '#kernel/auth/roles.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { closed, pageQuery } from '#kernel/schema.ts'
import { typeStore } from '#modules/definitions/index.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import { prepareEntries } from '../imports/import-source.ts'

import {
  DatasetType,
  NewType,
  NewTypeVersion,
  TypePage,
  TypeParams,
  TypeQuery,
  ValidationReport,
  ValidationRequest,
} from './schema.ts'

const toTypeView = (tx: { tenant_id: string }, { tenant_id, definition, ...type }: typeStore.TypeRow) => ({
  ...type,
  ...typeStore.toTypeDefinition({ ...type, definition }),
  origin: tenant_id === tx.tenant_id ? ('own' as const) : ('shared' as const),
})

const getTypeHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const type = params['type_key'] === undefined ? undefined : await typeStore.findType(tx, params['type_key'])
  return type ? String(type.type_version) : null
}

/** A new version is checked against the data in force, so a proposal is void when that changes. */
const getTypeVersionHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const head = await getTypeHead(tx, params)
  if (head === null) return null
  const lists = await typeStore.listVersionsInForceOfType(tx, params['type_key'] as string)
  return `${head} ${hash('sha256', canonicalJson(lists.map(({ list_key, version }) => [list_key, version])), 'hex')}`
}

export const typeRoutes = [
  tenantRoute('GET /reference-data/types', {
    id: 'listDatasetTypes',
    summary: 'List dataset types, the newest version of each',
    roles: everyone,
    tx: 'one',
    uses: ['cursors'],
    query: TypeQuery,
    reply: [200, TypePage],
  }).handle(async (input) => {
    const { tx, query } = input
    const types = await paginate(input, 'listDatasetTypes', ['type_key', 'tenant_id'], (after, count) =>
      typeStore.listTypes(tx, query.origin ?? null, after, count),
    )
    return { ...types, items: types.items.map((type) => toTypeView(tx, type)) }
  }),

  tenantRoute('POST /reference-data/types', {
    id: 'createDatasetType',
    summary: 'Define a type of this tenant: schema of one entry, business key, rules over the list',
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['threads'],
    body: NewType,
    reply: [201, DatasetType],
    governed: { action: 'types', head: getTypeHead },
    location: (type) => `/reference-data/types/${type.type_key}`,
    links: { getDatasetType: { type_key: 'type_key' } },
    problems: ['duplicate', 'list_key_reserved', 'definition_invalid'],
    beforeTransaction: ({ body, kernel, actor, request }) =>
      typeStore.assertUsableType(
        kernel,
        { type_key: body.type_key, type_version: 1, ...typeStore.toTypeContent(body) } as TypeDefinition,
        {
          caller: actor.tenant_id,
          signal: request.signal,
        },
      ),
  }).handle(async ({ tx, body, audit }) => {
    await typeStore.lockType(tx, body.type_key)
    const existing = await typeStore.findType(tx, body.type_key)
    if (existing?.tenant_id === tx.tenant_id) fail('duplicate')
    if (existing)
      fail('list_key_reserved', `${body.type_key} is a shared type: use it as it is, or choose another key.`)
    const definition = typeStore.toTypeContent(body)
    const type = assertFound(
      await typeStore.insertType(tx, {
        type_key: body.type_key,
        type_version: 1,
        definition,
        definition_hash: typeStore.hashTypeContent(definition),
        compatibility: 'backward',
      }),
    )
    audit.recordDiff(null, { type_key: type.type_key, definition_hash: type.definition_hash })
    audit.recordPreview(null, { type_key: type.type_key, ...definition })
    return toTypeView(tx, type)
  }),

  tenantRoute('GET /reference-data/types/:type_key', {
    id: 'getDatasetType',
    summary: 'One type with its schema, fields and examples',
    roles: everyone,
    tx: 'one',
    params: TypeParams,
    reply: [200, DatasetType],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toTypeView(tx, assertFound(await typeStore.findType(tx, params.type_key)))),

  tenantRoute('GET /reference-data/types/:type_key/versions', {
    id: 'listDatasetTypeVersions',
    summary: 'Versions of a type, newest first',
    roles: everyone,
    tx: 'read',
    uses: ['cursors'],
    params: TypeParams,
    query: closed(pageQuery),
    reply: [200, TypePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    const { tenant_id } = assertFound(await typeStore.findType(tx, params.type_key))
    const types = await paginate(
      input,
      `listDatasetTypeVersions ${params.type_key}`,
      ['type_version'],
      (after, count) => typeStore.listTypeVersions(tx, { tenant_id, type_key: params.type_key }, after, count),
    )
    return { ...types, items: types.items.map((type) => toTypeView(tx, type)) }
  }),

  tenantRoute('POST /reference-data/types/:type_key/versions', {
    id: 'createDatasetTypeVersion',
    summary: 'Publish a new version of a type after checking it against the data in force',
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['transactions', 'threads'],
    params: TypeParams,
    body: NewTypeVersion,
    reply: [201, DatasetType],
    governed: { action: 'types', head: getTypeVersionHead },
    location: (type) => `/reference-data/types/${type.type_key}`,
    problems: ['not_found', 'type_incompatible', 'definition_invalid', 'transition_not_allowed'],
    beforeTransaction: async ({ params, body, kernel, actor, request }) => {
      const next = { type_key: params.type_key, type_version: 1, ...typeStore.toTypeContent(body) } as TypeDefinition
      await typeStore.assertUsableType(kernel, next, { caller: actor.tenant_id, signal: request.signal })
      const scope = requestScope(actor)
      const breaks = await typeStore.findTypeBreaks(kernel, scope, next, request.signal).catch(typeStore.failUnusable)
      const isKeyChange = breaks.some(({ what }) => what === 'key_changed')
      if (breaks.length > 0 && (isKeyChange || body.compatibility !== 'none')) {
        fail('type_incompatible', {
          detail: isKeyChange
            ? 'The business key of a type never changes; define another type.'
            : 'Data in force would no longer fit.',
          members: { breaks },
        })
      }
    },
  }).handle(async ({ tx, params, body, audit }) => {
    await typeStore.lockType(tx, params.type_key)
    const current = assertFound(await typeStore.findType(tx, params.type_key))
    if (current.tenant_id !== tx.tenant_id) fail('transition_not_allowed', 'Shared types are changed by the operator.')
    const definition = typeStore.toTypeContent(body)
    const type = assertFound(
      await typeStore.insertType(tx, {
        type_key: params.type_key,
        type_version: current.type_version + 1,
        definition,
        definition_hash: typeStore.hashTypeContent(definition),
        compatibility: body.compatibility ?? 'backward',
      }),
    )
    audit.recordDiff(
      { type_version: current.type_version, definition_hash: current.definition_hash },
      { type_version: type.type_version, definition_hash: type.definition_hash },
    )
    audit.recordPreview(
      { type_version: current.type_version, ...current.definition },
      { type_version: type.type_version, ...definition },
    )
    return toTypeView(tx, type)
  }),

  tenantRoute('POST /reference-data/types/:type_key/validate', {
    id: 'validateEntries',
    summary: 'Validate entries against a type and get every violation; nothing is stored',
    stores_nothing: true,
    roles: ['policy_editor', 'compliance_officer', 'service'],
    tx: 'self',
    uses: ['threads'],
    params: TypeParams,
    body: ValidationRequest,
    reply: [200, ValidationReport],
    problems: ['not_found', 'conflict', 'definition_invalid'],
  }).handle(async ({ params, body, read, kernel, actor, request }) => {
    const type = await read(async (tx) => {
      const latest = assertFound(await typeStore.findType(tx, params.type_key))
      const { type_version = latest.type_version } = body
      if (type_version === latest.type_version) return latest
      return assertReferenced(
        await typeStore.findType(tx, params.type_key, type_version),
        `version ${type_version} of ${params.type_key}`,
      )
    })
    const { rejects, totals } = await prepareEntries(
      kernel,
      type,
      { entries: body.data },
      {
        tenant_id: actor.tenant_id,
        signal: request.signal,
      },
    )
    const faults = rejects.map(({ at, code, pointer, message }) => ({
      index: at.row > 0 ? at.row - 1 : null,
      code,
      pointer,
      message,
    }))
    return {
      type_key: type.type_key,
      type_version: type.type_version,
      valid: totals.root !== null,
      entries: body.data.length,
      content_hash: totals.root,
      faults_total: Math.max(
        faults.length,
        totals.reject_totals.reduce((sum, { count }) => sum + count, 0),
      ),
      faults: faults.slice(0, 1000),
    }
  }),
]
