/** Routes to register, read, update and archive lists, and to list what depends on them. */
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { findInheritedRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { GovernedChange } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { activationStore, datasetStore, registrySchemas, typeStore } from '#modules/definitions/index.ts'

import { DatasetChange, DatasetPage, DatasetQuery, Dependents, NewDataset } from './schema.ts'

const toDatasetView = (row: datasetStore.DatasetViewRow) => {
  const {
    tenant_id: _t,
    dataset_id: _d,
    family: _f,
    role: _r,
    base_tenant_id: _bt,
    base_dataset_id: _bd,
    type_tenant_id: _tt,
    ...rest
  } = row
  return rest
}

const getDatasetHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const dataset =
    params['list_key'] === undefined ? undefined : await datasetStore.findDatasetForWrite(tx, params['list_key'])
  return dataset ? `${dataset.dataset_id}:${dataset.revision}` : null
}

const isGovernedChange = async (tx: Tx, _rule: unknown, { params, body }: GovernedChange): Promise<boolean> => {
  const dataset = await datasetStore.findDatasetForWrite(tx, (params as { list_key: string }).list_key)
  return dataset === undefined || datasetStore.hasGovernedChange(dataset, body)
}

export const datasetRoutes = [
  tenantRoute('GET /reference-data/datasets', {
    id: 'listDatasets',
    summary: 'List datasets with their versions and the active one',
    tool: {
      name: 'search_lists',
      title: 'Search lists',
      description:
        'Finds reference lists (countries, products, thresholds, sanctioned names …) of this tenant and the ' +
        'shared ones: key, title, type, version in force, freshness. Start here when you do not know the ' +
        'list_key. Pages of at most 50; pass next_cursor as cursor to read on.',
      effect: 'read',
    },
    roles: everyone,
    tx: 'one',
    uses: ['cursors'],
    query: DatasetQuery,
    reply: [200, DatasetPage],
  }).handle(async (input) => {
    const { origin = null, state = null, type_key = null, key_prefix = null } = input.query
    const datasets = await paginate(input, 'listDatasets', ['list_key', 'dataset_id'], (after, count) =>
      datasetStore.listDatasets(input.tx, { origin, state, type_key, key_prefix }, after, count),
    )
    return { ...datasets, items: datasets.items.map(toDatasetView) }
  }),

  tenantRoute('POST /reference-data/datasets', {
    id: 'createDataset',
    summary: 'Register a new list with its type, owner, review cadence and guards',
    roles: ['policy_editor'],
    tx: 'write',
    body: NewDataset,
    reply: [201, registrySchemas.Dataset],
    revisioned: true,
    governed: { action: 'datasets', head: getDatasetHead },
    location: (dataset) => `/reference-data/datasets/${dataset.list_key}?origin=${dataset.origin}`,
    links: { getDataset: { list_key: 'list_key', origin: 'origin' } },
    problems: ['not_found', 'duplicate', 'list_key_reserved'],
  }).handle(async ({ tx, body, audit }) => {
    const shared = await datasetStore.findSharedDataset(tx, body.list_key)
    if (shared && shared.overlay_policy !== 'free') {
      fail('list_key_reserved')
    }
    const type = await typeStore.findType(tx, body.type_key)
    if (!type) return fail('not_found', 'There is no such type.')
    const { list_key, ...settings } = body
    const dataset = await datasetStore.insertDataset(tx, {
      ...settings,
      dataset_id: uuidv7(),
      family: 'list',
      list_key,
      role: 'base',
      type_tenant_id: type.tenant_id,
    })
    audit.recordDiff(null, { list_key, ...settings, dataset_id: dataset?.dataset_id })
    return toDatasetView(assertFound(await datasetStore.findDatasetView(tx, list_key, 'list', 'own')))
  }),

  tenantRoute('GET /reference-data/datasets/:list_key', {
    id: 'getDataset',
    summary: 'One list: type, owner, active version, freshness',
    tool: {
      name: 'get_list',
      title: 'Get one list',
      description:
        'One reference list by list_key: type, owner, version in force, newest version, staleness and guards. ' +
        'Use list_entries for its content and compare_list_versions for what changed.',
      effect: 'read',
    },
    roles: everyone,
    tx: 'one',
    params: registrySchemas.ListKeyParams,
    query: registrySchemas.OriginQuery,
    reply: [200, registrySchemas.Dataset],
    revisioned: true,
    headers: (dataset) => ({ etag: datasetStore.toViewEtag(dataset) }),
    problems: ['not_found'],
  }).handle(async ({ tx, params, query }) =>
    toDatasetView(assertFound(await datasetStore.findDatasetView(tx, params.list_key, 'list', query.origin))),
  ),

  tenantRoute('PATCH /reference-data/datasets/:list_key', {
    id: 'updateDataset',
    summary: 'Change title, owner, description, review cadence, staleness limit or guards',
    description:
      'Title, description and owner never wait for approval. The rest does as `datasets`, or, where the policy does not name that, as ' +
      '`activation`.',
    roles: ['policy_editor'],
    tx: 'write',
    params: registrySchemas.ListKeyParams,
    body: DatasetChange,
    reply: [200, registrySchemas.Dataset],
    revisioned: true,
    governed: {
      action: 'datasets',
      head: getDatasetHead,
      // Guards apply to every activation, so weakening them needs the approval of an activation.
      findDefaultRule: (tx) => findInheritedRule(tx, 'activation'),
      requiresApproval: isGovernedChange,
    },
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body } = input
    const dataset = await lockOwnDataset(tx, params.list_key)
    assertRevision(dataset.revision, input)
    const { expected_revision: _, ...change } = body
    const changed = assertFound(await datasetStore.updateDataset(tx, { ...dataset, ...change }))
    input.audit.recordDiff(dataset, changed)
    return toDatasetView(assertFound(await datasetStore.findDatasetView(tx, params.list_key, 'list', 'own')))
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/archive', {
    id: 'archiveDataset',
    summary: 'Retire a list that nothing depends on; its history stays readable',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    params: registrySchemas.ListKeyParams,
    reply: [200, registrySchemas.Dataset],
    governed: { action: 'datasets', head: getDatasetHead },
    problems: ['not_found', 'transition_not_allowed', 'conflict'],
  }).handle(async ({ tx, params, audit }) => {
    await activationStore.lockActivations(tx, 'list', params.list_key)
    const dataset = await lockOwnDataset(tx, params.list_key)
    const dependents = await datasetStore.listDependents(tx, dataset)
    const scheduled = await activationStore.listScheduledActivations(tx, 'list', dataset.list_key)
    if (scheduled.some(({ dataset_id }) => dataset_id === dataset.dataset_id))
      fail('conflict', 'A version of this list is scheduled to come into force; cancel that first.')
    if (dependents.length > 0)
      fail('conflict', { detail: 'Something still depends on this list.', members: { dependents } })
    audit.recordDiff({ state: dataset.state }, { state: 'archived' })
    await datasetStore.updateDataset(tx, { ...dataset, state: 'archived' })
    return toDatasetView(assertFound(await datasetStore.findDatasetView(tx, params.list_key, 'list', 'own')))
  }),

  tenantRoute('GET /reference-data/datasets/:list_key/dependents', {
    id: 'listDependents',
    summary: 'What of this tenant depends on the list',
    roles: everyone,
    tx: 'read',
    params: registrySchemas.ListKeyParams,
    query: registrySchemas.OriginQuery,
    reply: [200, Dependents],
    problems: ['not_found'],
  }).handle(async ({ tx, params, query }) => {
    const dataset = assertFound(await datasetStore.findDataset(tx, params.list_key, 'list', query.origin))
    return { items: await datasetStore.listDependents(tx, dataset) }
  }),
]

async function lockOwnDataset(tx: Tx, list_key: string) {
  const dataset = assertFound(await datasetStore.findDatasetForWrite(tx, list_key))
  if (dataset.tenant_id !== tx.tenant_id)
    fail('transition_not_allowed', `${list_key} is a shared list; the operator keeps it.`)
  const locked = assertFound(await datasetStore.lockDataset(tx, dataset.dataset_id))
  if (locked.state === 'archived') fail('transition_not_allowed', `${list_key} is archived.`)
  return locked
}
