/** Routes of adapters and imports. Imports return immediately and are polled; every rejected row is listed. */

import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { updateCancelRequested } from '#kernel/job/queries.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import { claimUpload, findUpload, readUpload } from '#modules/system/index.ts'
import type { Adapter, Reject } from '#registry/adapter.ts'
import { findOptionFaults } from '#registry/adapter-options.ts'
import { adapters } from '#registry/adapters/index.ts'

import { assertDeltaBase } from '../deltas/base.ts'
import { createDeltaComparison } from '../deltas/preview.ts'
import { toDeltaRequest } from '../deltas/request.ts'

import { findOwnList } from './detection-routes.ts'
import { findTypeMismatch, readRejectLines } from './import-source.ts'
import { toImportSource, toImportView } from './import-views.ts'
import {
  bindAdapter,
  type ChosenAdapter,
  failPluginAdapter,
  findAdapter,
  listPluginAdapters,
  recordAdapterFailure,
  toAdapterCode,
  toPluginPin,
} from './plugin-adapters.ts'
import { previewSource } from './preview.ts'
import { countRejects, findImport, insertImport, listImports, listRejects } from './queries.ts'
import {
  AdapterPage,
  AdapterParams,
  AdapterQuery,
  AdapterView,
  ImportPage,
  ImportParams,
  ImportQuery,
  ImportRequest,
  ImportView,
  PreviewParams,
  PreviewReply,
  PreviewRequest,
  RejectPage,
  RejectQuery,
} from './schema.ts'

/** Rejects quote the source, including personal members. */
const rejectReaders = ['policy_editor', 'compliance_officer', 'auditor'] as const

const toAdapterView = ({ key, version, read: _, checkOptions: __, ...adapter }: Adapter) => ({
  adapter_key: key,
  adapter_version: version,
  ...adapter,
  media_types: [...adapter.media_types],
  file_extensions: [...adapter.file_extensions],
  sample: { options: {}, ...adapter.sample },
  options: JSON.parse(JSON.stringify(adapter.options)) as Record<string, unknown>,
  plugin: null,
})

const builtInAdapters = [...adapters.values()].map(toAdapterView)

function assertAdapterOptions(adapter: ChosenAdapter, options: Record<string, unknown>): void {
  const faults = findOptionFaults(adapter, options)
  const [first] = faults
  if (!first) return
  fail('definition_invalid', {
    detail: `The options do not fit the adapter ${adapter.key}: ${first.pointer || 'the value'} ${first.detail}.`,
    errors: faults.map(({ pointer, detail }) => ({ in: 'body', pointer: `#/options${pointer}`, detail })),
  })
}

function assertTargetType(adapter: ChosenAdapter, type_key: string, pointer: string): void {
  const detail = findTypeMismatch(adapter, type_key)
  if (detail) fail('conflict', { detail, errors: [{ in: 'body', pointer, detail }] })
}

type DeltaToPreview = NonNullable<Static<typeof PreviewRequest>['delta']>

/** A 404 about the body names the member, since the path is correct. */
const failUnknownList = (pointer: string): never => {
  const detail = 'There is no list with this list_key.'
  return fail('not_found', { detail, errors: [{ in: 'body', pointer, detail }] })
}

/** The type of the list applies, whatever type the request names. */
async function findPreviewBase(tx: Tx, body: DeltaToPreview, adapter: ChosenAdapter) {
  const dataset = (await datasetStore.findDatasetForWrite(tx, body.list_key)) ?? failUnknownList('#/delta/list_key')
  versionStore.assertWritable(dataset, tx)
  assertTargetType(adapter, dataset.type_key, '#/delta/list_key')
  const type = assertFound(await typeStore.findType(tx, dataset.type_key))
  const request = toDeltaRequest(body)
  // Dropped and hashed members are checked when the import starts.
  const base = await assertDeltaBase(tx, dataset, type, { base_version: body.base_version, privacy: null })
  return { type, request, base }
}

export const importRoutes = [
  tenantRoute('GET /reference-data/adapters', {
    id: 'listAdapters',
    summary: 'List import adapters: formats they take, options, target type',
    description:
      'Those of this service, and the plugins of the kind adapter that are in force, whether or not they can run.',
    roles: everyone,
    tx: 'read',
    uses: ['cursors', 'caches', 'threads', 'plugin_policy'],
    query: AdapterQuery,
    reply: [200, AdapterPage],
  }).handle(async (input) => {
    const all = [...builtInAdapters, ...(await listPluginAdapters(input.kernel, input.tx))]
    const sorted = all.sort((a, b) => (a.adapter_key < b.adapter_key ? -1 : 1))
    return paginate(input, 'listAdapters', ['adapter_key'], async (after, count) =>
      sorted.filter(({ adapter_key }) => after === null || adapter_key > String(after[0])).slice(0, count),
    )
  }),

  tenantRoute('GET /reference-data/adapters/:adapter_key', {
    id: 'getAdapter',
    summary: 'One adapter: accepted formats, options, target type, a sample',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: AdapterParams,
    reply: [200, AdapterView],
    problems: ['not_found'],
  }).handle(async ({ tx, params: { adapter_key }, kernel }) => {
    const known = builtInAdapters.find((one) => one.adapter_key === adapter_key)
    if (known) return known
    return assertFound((await listPluginAdapters(kernel, tx)).find((one) => one.adapter_key === adapter_key))
  }),

  tenantRoute('POST /reference-data/adapters/:adapter_key/preview', {
    id: 'previewAdapter',
    summary: 'Run the adapter on an upload or a sample and see rows, warnings and rejects; nothing is stored',
    description:
      'Reads at most so many rows and for so long as the operator allows; `truncated` then says which limit was met, the counts ' +
      'cover what was read, and rules over the whole list are not checked. Ends when the client disconnects. Few previews of a ' +
      'tenant run at once; more wait, and beyond that the answer is 429 or 503 with Retry-After. Where a plugin fails, its runs show that.',
    stores_nothing: true,
    tool: {
      name: 'run_import_preview',
      title: 'Preview an import',
      description:
        'Reads an upload or a sample with an import adapter: rows, warnings, and rejects with their places. ' +
        'Stores nothing.',
      effect: 'work',
    },
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'self',
    uses: ['threads', 'preview_limits', 'caches', 'plugin_policy', 'log'],
    executes: 'plugin',
    runs_plugins_of: ['adapter'],
    params: PreviewParams,
    body: PreviewRequest,
    reply: [200, PreviewReply],
    problems: [
      'not_found',
      'conflict',
      'source_invalid',
      'definition_invalid',
      'upload_incomplete',
      'transition_not_allowed',
      'base_not_newest',
      'base_withdrawn',
      'base_incompatible',
    ],
  }).handle(async ({ params, body, read, write, kernel, actor, request }) => {
    const adapter = await read((tx) => findAdapter(tx, params.adapter_key))
    assertAdapterOptions(adapter, body.options ?? {})
    const { list_key } = body
    const list = list_key === undefined ? null : await read((tx) => findOwnList(tx, list_key))
    if (list) assertTargetType(adapter, list.type_key, '#/list_key')
    if (body.type_key !== undefined) assertTargetType(adapter, body.type_key, '#/type_key')
    const type_key = list?.type_key ?? body.type_key ?? adapter.target_type
    const type = type_key === null ? null : assertFound(await read((tx) => typeStore.findType(tx, type_key)))
    const delta = body.delta && (await read((tx) => findPreviewBase(tx, body.delta as DeltaToPreview, adapter)))
    const { upload_id, text } = body
    const source =
      upload_id === undefined
        ? (async function* () {
            yield Buffer.from(text as string)
          })()
        : readUpload(read, upload_id)
    const upload = upload_id === undefined ? undefined : assertFound(await read((tx) => findUpload(tx, upload_id)))
    const { key: adapter_key } = adapter
    const bound = await read((tx) => bindAdapter(kernel, tx, adapter_key))
    return previewSource(
      kernel,
      source,
      {
        adapter_key,
        ...(bound && { plugin: toAdapterCode(kernel.threads, bound) }),
        file_name: upload?.file_name ?? null,
        options: body.options ?? {},
        type: delta?.type ?? type,
        limit: body.limit ?? 20,
        ...(delta && {
          delta: createDeltaComparison(read, delta.base, delta.request, typeStore.toTypeDefinition(delta.type)),
        }),
      },
      { tenant_id: actor.tenant_id, signal: request.signal },
    ).catch(async (error: unknown) => {
      await recordAdapterFailure(write, bound, error, { kind: 'preview', id: null }).catch((err) =>
        kernel.log.error({ err, request_id: request.id }, 'the failure of a plugin in a preview could not be recorded'),
      )
      return failPluginAdapter(bound, error)
    })
  }),

  tenantRoute('POST /reference-data/imports', {
    id: 'startImport',
    summary: 'Import an upload with an adapter as a new version; does not activate it',
    description:
      '`If-Match` names the newest version as an ETag, for example `"3"`. `drop` and `hash` take JSON pointers into an entry, ' +
      'with `*` for every element of an array; one that matches no row is reported in `warnings`. A source that lacks a file of its set, ' +
      'or the publisher’s end mark, fails unless an option of the adapter declares it absent. `files` lists the files with their ' +
      'encodings. The guards of the list also count values that entries lose; a breach leaves the import `blocked`. With `delta` the ' +
      'file holds changes to the newest version only; the result is a complete version, with the same guards.',
    roles: ['policy_editor', 'service', 'compliance_officer'],
    tx: 'write',
    uses: ['jobs', 'auditKeys', 'caches', 'threads', 'plugin_policy'],
    executes: 'plugin',
    runs_plugins_of: ['adapter'],
    body: ImportRequest,
    reply: [202, JobView],
    starts: 'dataset-import',
    problems: [
      'not_found',
      'conflict',
      'upload_incomplete',
      'precondition_failed',
      'head_moved',
      'definition_invalid',
      'transition_not_allowed',
      'base_not_newest',
      'base_withdrawn',
      'base_incompatible',
    ],
  }).handle(async ({ tx, body, kernel, actor, request }) => {
    const dataset = (await datasetStore.findDatasetForWrite(tx, body.list_key)) ?? failUnknownList('#/list_key')
    versionStore.assertWritable(dataset, tx)
    const adapter = await findAdapter(tx, body.adapter_key)
    assertTargetType(adapter, dataset.type_key, '#/adapter_key')
    assertAdapterOptions(adapter, body.options ?? {})
    if (body.override_guards && !actor.roles.includes('compliance_officer')) {
      fail('role_required', { detail: 'Guards are overridden by a compliance officer.' })
    }
    versionStore.assertIfMatchHead(dataset, request.if_match)
    versionStore.assertHeadVersion(dataset, body.expected_head ?? null)
    const privacy = { drop: body.drop ?? [], hash: body.hash ?? [] }
    if (body.delta) {
      const type = assertFound(await typeStore.findType(tx, dataset.type_key))
      await assertDeltaBase(tx, dataset, type, { base_version: body.delta.base_version, privacy })
    }
    const upload = await claimUpload(tx, body.upload_id)
    const plugin = await bindAdapter(kernel, tx, adapter.key)
    const [import_id, job_id] = [uuidv7(), uuidv7()]
    const job = await kernel.jobs.enqueue(tx, {
      job_id,
      kind: 'dataset-import',
      payload: { import_id },
      resource: `/api/reference-data/imports/${import_id}`,
      total: 100,
      unit: 'percent',
    })
    await insertImport(tx, {
      import_id,
      job_id,
      dataset_id: dataset.dataset_id,
      list_key: dataset.list_key,
      upload_id: body.upload_id,
      adapter_key: adapter.key,
      adapter_version: plugin?.version ?? adapter.version,
      options: body.options ?? {},
      source: toImportSource(kernel, tx, upload, privacy.drop.length + privacy.hash.length > 0),
      order_text: {
        strict: body.strict ?? true,
        ...privacy,
        label: body.label ?? null,
        note: body.note ?? null,
        expected_head: body.expected_head ?? null,
        on_unchanged: body.on_unchanged ?? 'publish',
        override: body.override_guards ? { by: actor.principal, reason: body.override_guards.reason } : null,
        delta: body.delta ? toDeltaRequest(body.delta) : null,
        plugin: plugin && toPluginPin(plugin),
      },
    })
    return job
  }),

  tenantRoute('GET /reference-data/imports', {
    id: 'listImports',
    summary: 'Imports, newest first',
    roles: everyone,
    tx: 'one',
    uses: ['cursors'],
    query: ImportQuery,
    reply: [200, ImportPage],
  }).handle(async (input) => {
    const { list_key = null, state = null } = input.query
    const imports = await paginate(input, 'listImports', ['created_at', 'import_id'], (after, count) =>
      listImports(input.tx, { list_key, state }, after, count),
    )
    return { ...imports, items: imports.items.map(toImportView) }
  }),

  tenantRoute('GET /reference-data/imports/:import_id', {
    id: 'getImport',
    summary: 'State, counts, rejects by kind, gates and the resulting version of one import',
    roles: everyone,
    tx: 'one',
    params: ImportParams,
    reply: [200, ImportView],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toImportView(assertFound(await findImport(tx, params.import_id)))),

  tenantRoute('GET /reference-data/imports/:import_id/rejects', {
    id: 'listImportRejects',
    summary: 'Rows that failed, each with its place, the reason and what to correct',
    roles: rejectReaders,
    tx: 'read',
    uses: ['cursors'],
    params: ImportParams,
    query: RejectQuery,
    reply: [200, RejectPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    const row = assertFound(await findImport(tx, params.import_id))
    const rejects = await paginate(input, `listImportRejects ${params.import_id}`, ['seq'], (after, count) =>
      listRejects(tx, { ...params, code: input.query.code ?? null }, after, count),
    )
    const counted = (row.rejects as { count: number }[]).reduce((sum, { count }) => sum + count, 0)
    const stored = await countRejects(tx, params.import_id)
    return {
      ...rejects,
      items: rejects.items as (Reject & { seq: number })[],
      // A source that broke off was not counted to the end.
      total: Math.max(counted, stored),
      truncated: stored < counted,
    }
  }),

  tenantRoute('GET /reference-data/imports/:import_id/rejects/export', {
    id: 'exportImportRejects',
    summary: 'All stored rejected rows in one file',
    description: 'At most the first 1,000,000; the import has the exact totals. Not available while the import runs.',
    roles: rejectReaders,
    tx: 'self',
    params: ImportParams,
    reply: [200, streamReply('application/x-ndjson', 'One rejected row a line, as the paged list has it.')],
    problems: ['not_found', 'not_finished'],
  }).handle(async ({ read, params: { import_id } }) => {
    const { state, list_key } = assertFound(await read((tx) => findImport(tx, import_id)))
    if (state === 'queued' || state === 'running') fail('not_finished', `The import is ${state}.`)
    return Object.assign(readRejectLines(read, import_id), { file_name: `${list_key}-rejects.ndjson` })
  }),

  tenantRoute('POST /reference-data/imports/:import_id/cancel', {
    id: 'cancelImport',
    summary: 'Stop a running import; nothing is left half-written',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    params: ImportParams,
    reply: [200, ImportView],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params }) => {
    const row = assertFound(await findImport(tx, params.import_id))
    if (row.state !== 'queued' && row.state !== 'running') fail('transition_not_allowed', `The import is ${row.state}.`)
    await updateCancelRequested(tx, row.job_id as string)
    return toImportView(assertFound(await findImport(tx, params.import_id)))
  }),
]
