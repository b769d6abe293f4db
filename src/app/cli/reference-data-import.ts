/**
 * `reference-data import FILE --shared`: a file becomes the next version of a list that all tenants share, with the same
 * reading, checking and publishing as an import by a tenant. All or nothing: after a rejected row or a closed gate nothing is
 * stored.
 */
import fs from 'node:fs'
import path from 'node:path'
import { formatCount } from '#kernel/count-words.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import {
  type DeltaRequest,
  findTypeMismatch,
  importRows,
  indexVersion,
  needsIndex,
  readSource,
  resolveDelta,
  toImportCounts,
  toStagedContent,
  withDefaultColumns,
} from '#modules/reference-data/index.ts'
import type { Adapter, Reject } from '#registry/adapter.ts'
import { findOptionFaults } from '#registry/adapter-options.ts'
import { adapters } from '#registry/adapters/index.ts'
import type { TreeSource } from '#registry/content/stored-tree.ts'
import type { ImportTotals } from '#registry/import/import-messages.ts'
import { type Arguments, type Command, type Invocation, parseInteger, type Terminal, UsageError } from './command.ts'
import { findNearest } from './help.ts'
import { DELTA_OPTIONS, readDelta } from './import-delta.ts'
import { HashedFile, RejectReport } from './import-files.ts'
import {
  ACTOR_OPTIONS,
  type ActivationResult,
  type ActivationTime,
  activateSharedVersion,
  describeListStatus,
  readActivationTime,
  readReason,
  readScope,
  recordSharedListEvent,
  requireList,
  type SharedLists,
  withSharedLists,
} from './shared-list.ts'

const REPORT_EVERY_MS = 2000
const LABEL = /^(?=.*[^0-9])[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const LIST_KEY = /^[a-z0-9][a-z0-9_-]{0,99}$/
const TITLE_MAX = 200
const adapterKeys = [...adapters.keys()].sort()
/** How many names of adapters fit on the first line of help. */
const HELP_ADAPTERS = 8
const overlayPolicies: readonly datasetStore.OverlayPolicy[] = ['none', 'add_only', 'tighten_only', 'free']

export const referenceDataImport: Command = {
  about: `
Every row is checked; one bad row, and nothing is imported. The new version is not in force until it is activated: with
--activate 24 hours from now, at --at INSTANT, or at once with --now REASON. With --type a list that is not there yet is registered.

Adapters: ${adapterKeys.slice(0, HELP_ADAPTERS).join(', ')},
  ${adapterKeys.slice(HELP_ADAPTERS).join(', ')}

Examples:
  npx probity reference-data import countries.csv --shared --list countries --adapter csv
  npx probity reference-data import sdn-csv.zip --shared --list sdn --adapter ofac-sdn-csv
  npx probity reference-data import sdn.csv --shared --list sdn-names --adapter ofac-sdn-csv \\
    --options '{"absent_files": ["alt", "add", "sdn_comments"]}'
  npx probity reference-data import sdn.xml --shared --list sdn --adapter ofac-sdn-xml --type sanctioned-party --title 'OFAC SDN'
  npx probity reference-data import grey.csv --shared --list fatf-lists --adapter csv --activate --now 'Binding tonight'`,
  options: {
    ...ACTOR_OPTIONS,
    list: { type: 'string', value: 'KEY', about: 'the list' },
    adapter: { type: 'string', value: 'KEY', about: 'how to read the file; they are named above' },
    options: { type: 'string', value: 'JSON', about: 'options of the adapter' },
    type: { type: 'string', value: 'KEY', about: 'register a new list of this shared type' },
    title: { type: 'string', value: 'TEXT', about: 'title of the new list' },
    'overlay-policy': {
      type: 'string',
      value: 'POLICY',
      about: `what tenants may change: ${overlayPolicies.join(', ')}`,
    },
    label: { type: 'string', value: 'LABEL', about: 'a name for the version, such as 2026-q4' },
    note: { type: 'string', value: 'TEXT', about: 'a note that stays with the version' },
    'expected-head': { type: 'string', value: 'N', about: 'refuse unless this is the newest version; 0 for none' },
    'on-unchanged': { type: 'string', value: 'WHAT', about: 'publish (default) or skip a file that changes nothing' },
    'override-guards': { type: 'string', value: 'REASON', about: 'publish although a guard is breached, and why' },
    ...DELTA_OPTIONS,
    rejects: { type: 'string', value: 'FILE', about: 'write all rejected rows there, as NDJSON' },
    activate: { type: 'boolean', about: 'put the new version in force, by default 24 hours from now' },
    at: { type: 'string', value: 'INSTANT', about: 'with --activate: from when, at least 24 hours ahead' },
    now: { type: 'string', value: 'REASON', about: 'with --activate: at once, and why it cannot wait' },
  },
  positionals: ['FILE'],
  run: async (invocation) => {
    const request = readListImportRequest(invocation)
    const scope = readScope(invocation)
    return withSharedLists(invocation, scope, (lists) => importShared(lists, request, invocation))
  },
}

interface ListImportRequest {
  readonly file: string
  readonly list_key: string
  readonly adapter: Adapter
  readonly options: Record<string, unknown>
  /** Given when the list may be new. */
  readonly registers: {
    readonly type_key: string
    readonly title: string
    readonly overlay_policy: datasetStore.OverlayPolicy
  } | null
  readonly label: string | null
  readonly note: string | null
  readonly expected_head: number | null
  readonly on_unchanged: 'publish' | 'skip'
  readonly override_reason: string | null
  readonly delta: DeltaRequest | null
  readonly rejects_file: string | null
  readonly moment: ActivationTime | null
}

function readListImportRequest(invocation: Invocation): ListImportRequest {
  const { args } = invocation
  readScope(invocation)
  const [file] = args.positionals as [string]
  const list_key = args.required('list')
  if (!LIST_KEY.test(list_key)) {
    throw new UsageError('--list must be 1 to 100 lower-case letters, digits, - or _, starting with a letter or digit.')
  }
  const adapter = readAdapter(args)
  const label = args.text('label') ?? null
  if (label !== null && !LABEL.test(label)) {
    throw new UsageError('--label must be 1 to 100 letters, digits or . _ - with at least one that is no digit.')
  }
  const on_unchanged = args.text('on-unchanged') ?? 'publish'
  if (on_unchanged !== 'publish' && on_unchanged !== 'skip') throw new UsageError('--on-unchanged is publish or skip.')
  const head = args.text('expected-head')
  const override = args.text('override-guards')
  const note = args.text('note')
  if (!args.flag('activate') && (args.text('now') ?? args.text('at')) !== undefined) {
    throw new UsageError('--now and --at go with --activate.')
  }
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${file}.`)
  return {
    file,
    list_key,
    adapter,
    options: readOptions(args, adapter),
    registers: readRegistration(args),
    label,
    note: note === undefined ? null : readReason('note', note),
    expected_head: head === undefined ? null : parseInteger('expected-head', head, 0, 999_999_999),
    on_unchanged,
    override_reason: override === undefined ? null : readReason('override-guards', override),
    delta: readDelta(args),
    rejects_file: args.text('rejects') ?? null,
    moment: args.flag('activate') ? readActivationTime({ args }, note ?? `Import of ${path.basename(file)}.`) : null,
  }
}

function readAdapter(args: Arguments): Adapter {
  const key = args.required('adapter')
  const adapter = adapters.get(key)
  if (adapter) return adapter
  const near = findNearest(key, adapterKeys)
  const hint = near ? `did you mean "${near}"?` : `there are ${adapterKeys.join(', ')}.`
  throw new UsageError(`--adapter "${key.slice(0, 100)}" is not known; ${hint}`)
}

function readOptions(args: Arguments, adapter: Adapter): Record<string, unknown> {
  const text = args.text('options')
  if (text === undefined) return {}
  let options: unknown
  try {
    options = JSON.parse(text)
  } catch {
    throw new UsageError('--options must be JSON, for example \'{"delimiter": ";"}\'.')
  }
  const faults = findOptionFaults(adapter, options as Record<string, unknown>)
  const listed = faults.map(({ pointer, detail }) => `${pointer || 'the value'} ${detail}`)
  if (listed.length > 0) throw new UsageError(`--options do not fit the adapter ${adapter.key}: ${listed.join(', ')}.`)
  return options as Record<string, unknown>
}

function readRegistration(args: Arguments): ListImportRequest['registers'] {
  const type_key = args.text('type')
  const policy = args.text('overlay-policy') ?? 'none'
  if (type_key === undefined) {
    if ((args.text('title') ?? args.text('overlay-policy')) === undefined) return null
    throw new UsageError('--title and --overlay-policy are for a new list: say its --type too.')
  }
  const overlay_policy = overlayPolicies.find((known) => known === policy)
  if (!overlay_policy) throw new UsageError(`--overlay-policy is one of ${overlayPolicies.join(', ')}.`)
  const title = args.required('title').trim()
  if (title.length === 0 || title.length > TITLE_MAX || /\p{Cc}/u.test(title)) {
    throw new UsageError(`--title must be 1 to ${TITLE_MAX} characters on one line.`)
  }
  return { type_key, title, overlay_policy }
}

async function importShared(
  lists: SharedLists,
  request: ListImportRequest,
  { terminal, host }: Pick<Invocation, 'terminal' | 'host'>,
): Promise<number> {
  const scriptPath = (name: string): string => path.join(host.scripts_dir, `${name}.mjs`)
  const { list, type } = await lists.read((tx) => findTarget(tx, request))
  if (list) {
    versionStore.assertHeadVersion(list, request.expected_head)
    terminal.note(await lists.read((tx) => describeListStatus(tx, list)))
  } else terminal.note(`${request.list_key} is new; it will be registered as a list of ${type.type_key}.`)

  const source = new HashedFile(request.file)
  const rejects = new RejectReport(request.rejects_file)
  let reported_ms = Date.now()
  const definition = typeStore.toTypeDefinition(type)
  const outputs = readSource({ threads: { scriptPath } }, source.read(), {
    adapter_key: request.adapter.key,
    file_name: path.basename(request.file),
    options: withDefaultColumns(request.adapter.key, request.options, definition, request.delta?.removed.marker),
    type: definition,
    strict: true,
    drop: [],
    hash: [],
    hash_key: null,
    filled: Object.keys(list?.guards.min_filled_bps ?? {}),
    ...(request.delta && { delta: { marker: request.delta.removed.marker } }),
  })
  const onRejects = async (items: readonly Reject[]) => rejects.add(items)
  try {
    const { version, put } = await importRows<PublishResult>(
      {
        outputs,
        strict: true,
        onRejects,
        onProgress: async (rows) => {
          if (Date.now() - reported_ms < REPORT_EVERY_MS) return
          reported_ms = Date.now()
          terminal.note(`${rows.toLocaleString('en')} rows read`)
        },
      },
      lists.write,
      (tx, totals, tree) => {
        printSource(terminal, totals)
        return publish(tx, { order: request, list, type, totals, tree, source, onRejects })
      },
    )
    printResult(terminal, request, version, put)
    if (version !== 'unchanged' && needsIndex(version)) {
      terminal.note('Building the search index; the list can be used meanwhile.')
      await indexVersion({ ...lists, onBatch: async () => {} }, version)
    }
    terminal.note(await lists.read(async (tx) => describeListStatus(tx, await requireList(tx, request.list_key))))
    return 0
  } finally {
    await rejects.print(terminal)
  }
}

async function findTarget(
  tx: Tx,
  { list_key, registers, adapter }: ListImportRequest,
): Promise<{ list: datasetStore.DatasetRow | null; type: typeStore.TypeRow }> {
  const list = registers
    ? ((await datasetStore.findSharedDataset(tx, list_key)) ?? null)
    : await requireList(tx, list_key, 'A new list is registered with --type and --title.')
  if (list && registers) throw new Error(`${list_key} exists already; leave --type, --title and --overlay-policy out.`)
  if (list?.state === 'archived') throw new Error(`${list_key} is archived.`)
  const type_key = list?.type_key ?? (registers?.type_key as string)
  const misfit = findTypeMismatch(adapter, type_key)
  if (misfit) throw new Error(misfit)
  const type = await typeStore.findType(tx, type_key)
  if (!type) throw new Error(`There is no shared type "${type_key}"; "reference-data types --shared" lists them.`)
  return { list, type }
}

interface PublishResult {
  readonly version: versionStore.VersionRow | 'unchanged'
  readonly put: ActivationResult | null
}

interface PublishContext {
  readonly order: ListImportRequest
  readonly list: datasetStore.DatasetRow | null
  readonly type: typeStore.TypeRow
  readonly totals: ImportTotals
  readonly tree: TreeSource
  readonly source: HashedFile
  readonly onRejects: (items: readonly Reject[]) => Promise<void>
}

async function publish(tx: Tx, publishing: PublishContext): Promise<PublishResult> {
  const { order, list, type, tree, source, onRejects } = publishing
  const dataset = list ?? (await register(tx, order, type))
  const resolved =
    order.delta &&
    (await resolveDelta(tx, {
      dataset,
      type,
      delta: order.delta,
      privacy: { drop: [], hash: [] },
      totals: publishing.totals,
      run: { strict: true, onRejects },
    }))
  const totals = resolved?.totals ?? publishing.totals
  const provenance = {
    adapter_key: order.adapter.key,
    adapter_version: order.adapter.version,
    options: order.options,
    source: source.getInfo(),
    imported_by: tx.actor,
    dropped_members: [],
    hashed_members: [],
    counts: toImportCounts(totals),
    files: totals.files,
    ...(resolved && { delta: { ...resolved.counts, removed_by: order.delta?.removed.marker ?? null } }),
  }
  const publication: versionStore.Publication = {
    dataset,
    type,
    content: resolved?.content ?? { ...toStagedContent(totals), tree },
    origin: 'import',
    provenance,
    label: order.label,
    note: order.note,
    expected_head: order.expected_head,
    on_unchanged: order.on_unchanged,
    guards: dataset.guards,
    override: order.override_reason === null ? null : { by: tx.actor, reason: order.override_reason },
  }
  const version = await versionStore.publishStaged(tx, publication, resolved?.writer)
  if (version === 'unchanged') return { version, put: null }
  await recordSharedListEvent(tx, 'importSharedList', order.list_key, {
    version: version.version,
    content_hash: version.content_hash,
    entry_count: version.entry_count,
    difference: version.difference,
    source: provenance.source,
    override_reason: order.override_reason,
  })
  const put = order.moment && (await activateSharedVersion(tx, order.list_key, version.version, order.moment))
  return { version, put }
}

async function register(
  tx: Tx,
  { list_key, registers }: ListImportRequest,
  type: typeStore.TypeRow,
): Promise<datasetStore.DatasetRow> {
  const { title, overlay_policy } = registers as NonNullable<ListImportRequest['registers']>
  const { tenant_id: type_tenant_id, type_key } = type
  const list = await datasetStore.insertDataset(tx, {
    dataset_id: uuidv7(),
    family: 'list',
    list_key,
    role: 'base',
    type_tenant_id,
    type_key,
    title,
    overlay_policy,
  })
  await recordSharedListEvent(tx, 'registerSharedList', list_key, { type_key, title, overlay_policy })
  return list as datasetStore.DatasetRow
}

/** Which files were read and how, and warnings about them; also when a guard stops the import afterwards. */
function printSource(terminal: Terminal, { files, warnings }: ImportTotals): void {
  for (const { file, state, encoding } of files) {
    terminal.note(`${file ?? 'The file'}: ${state}${encoding === undefined ? '' : ` as ${encoding}`}`)
  }
  for (const { message } of warnings) terminal.note(`Warning: ${message}`)
}

function printResult(
  terminal: Terminal,
  order: ListImportRequest,
  version: versionStore.VersionRow | 'unchanged',
  put: ActivationResult | null,
): void {
  if (version === 'unchanged') {
    terminal.out(`${order.list_key} is unchanged; no version was made.`)
    return
  }
  const { added, removed, changed, restated } = version.difference
  const form = restated ? `, ${restated} the same in the form of the type's new version` : ''
  terminal.out(
    `Version ${version.version} of ${order.list_key}: ${formatCount(version.entry_count, 'entry', 'entries')}; against the version before ` +
      `${added} added, ${removed} removed, ${changed} changed${form}. Content hash ${version.content_hash}.`,
  )
  terminal.out(
    put
      ? `It is in force from ${put.effective_from}.`
      : `It is not in force: "npx probity reference-data activate --shared --list ${order.list_key} --version ${version.version} --reason 'WHY'" is next.`,
  )
}
