/** The template `list-change-note`: what changed between two versions of a list, who published them, and when they came into force. */
import { nameActors, toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import {
  type CollectCapabilities,
  declareTemplate,
  type ReportBlock,
  type ReportFormat,
  type ReportSection,
} from '#kernel/report-template.ts'
import { closed, integer, Slug } from '#kernel/schema.ts'
import { activationStore, datasetStore, versionStore } from '#modules/definitions/index.ts'
import { listFieldChanges } from '#registry/content/json-patch.ts'
import { refuse } from '../create-report.ts'
import { showValue } from './value-texts.ts'

interface Parameters {
  readonly list_key: string
  readonly from_version: number
  readonly to_version: number
}

const MOST_ENTRIES = 500
const MOST_ACTIVATIONS = 50

async function findVersions(tx: Tx, { list_key, from_version, to_version }: Parameters) {
  const list = await datasetStore.findDataset(tx, list_key, 'list')
  if (!list) return refuse('parameters/list_key', 'There is no list with this key.')
  const from = await versionStore.findVersion(tx, list, from_version)
  const to = await versionStore.findVersion(tx, list, to_version)
  if (!from) return refuse('parameters/from_version', 'The list has no such version.')
  if (!to) return refuse('parameters/to_version', 'The list has no such version.')
  if (from.version >= to.version) return refuse('parameters/to_version', 'It must be later than from_version.')
  return { list, from, to }
}

const toVersionFacts = ({
  version,
  label,
  content_hash,
  entry_count,
  note,
  created_at,
  created_by,
}: versionStore.VersionRow) => ({
  ...{ version, label, content_hash, entry_count, note, created_at, created_by },
})

async function collectChanges(_kernel: CollectCapabilities, tx: Tx, parameters: Parameters) {
  const { list, from, to } = await findVersions(tx, parameters)
  const rows = await versionStore.listDifferences(
    tx,
    to,
    { from: from.version, to: to.version },
    { after: null, prefix: null, count: MOST_ENTRIES + 1 },
  )
  const changes = rows.slice(0, MOST_ENTRIES).map((row) => {
    const [before, after] = versionStore.parseDifference(row)
    const kind = before ? (after ? ('changed' as const) : ('removed' as const)) : ('added' as const)
    const fields = before && after ? listFieldChanges(before, after).map(({ pointer }) => pointer) : []
    return { key: row.key, kind, before, after, fields }
  })
  const { tenant_id, list_key } = list
  const timeline = await activationStore.listActivations(
    tx,
    { tenant_id, family: 'list', list_key },
    null,
    MOST_ACTIVATIONS,
  )
  const activations = timeline
    .filter(({ version }) => version !== null && version >= from.version && version <= to.version)
    .map(({ kind, version, effective_from, recorded_at, actor, reason, revoked_at }) => ({
      ...{ kind, version, effective_from, recorded_at, actor, reason, revoked_at },
    }))
  const versions = [from, to]
  return {
    list: { list_key, title: list.title },
    from: toVersionFacts(from),
    to: toVersionFacts(to),
    is_complete: rows.length <= MOST_ENTRIES,
    changes,
    activations,
    names: await nameActors(tx, [
      ...versions.map(({ created_by }) => created_by),
      ...activations.map(({ actor }) => actor),
    ]),
  }
}
type Data = Awaited<ReturnType<typeof collectChanges>>
type Change = Data['changes'][number]

const readField = (entry: Change['before'], pointer: string): string =>
  showValue(
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], entry),
  )

/** Changed fields with both values; of an entry that came or went, all that it has. */
function describeChange({ kind, before, after, fields }: Change): string {
  if (kind === 'changed')
    return fields.map((one) => `${one.slice(1)}: was ${readField(before, one)}, is ${readField(after, one)}`).join('; ')
  const entry = (kind === 'added' ? after : before) as unknown as Record<string, unknown>
  return Object.entries(entry)
    .filter(([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}: ${showValue(value)}`)
    .join('; ')
}

/** Both versions, and when they came into force. */
function arrangeVersions({ from, to, activations, names }: Data, format: ReportFormat): ReportSection {
  const toVersionTable = (version: Data['from']): string[] => [
    version.label === null ? String(version.version) : `${version.version} (${version.label})`,
    format.count(version.entry_count),
    `${format.instant(version.created_at)} by ${toName(names, version.created_by)}`,
    version.note ?? '–',
  ]
  return {
    title: 'Versions',
    blocks: [
      {
        kind: 'table',
        columns: [
          { title: 'Version', width: 2, style: 'strong' },
          { title: 'Entries', width: 0, align: 'right' },
          { title: 'Published', width: 4 },
          { title: 'Note', width: 4 },
        ],
        rows: [toVersionTable(from), toVersionTable(to)],
        empty: '–',
      },
      {
        kind: 'table',
        title: 'Put in force',
        columns: [
          { title: 'In force from', width: 3 },
          { title: 'Version', width: 0, align: 'right' },
          { title: 'How', width: 2 },
          { title: 'By', width: 3 },
          { title: 'Reason', width: 5 },
        ],
        rows: activations.map((one) => [
          format.instant(one.effective_from),
          String(one.version),
          one.revoked_at === null ? one.kind : `${one.kind}, revoked`,
          toName(names, one.actor),
          one.reason,
        ]),
        empty: 'None of these versions was put in force.',
      },
    ],
  }
}

function arrange(data: Data, format: ReportFormat) {
  const { list, from, to, changes, is_complete } = data
  const count = (kind: Change['kind']): number => changes.filter((change) => change.kind === kind).length
  const counts = { added: count('added'), removed: count('removed'), changed: count('changed') }
  const entries: ReportBlock[] = [
    {
      kind: 'table',
      columns: [
        { title: 'Key', width: 2, style: 'strong' },
        { title: 'Change', width: 0 },
        { title: 'What', width: 7 },
      ],
      rows: changes.map((change) => [change.key, change.kind, describeChange(change)]),
      empty: 'The two versions have the same entries.',
    },
    ...(is_complete
      ? []
      : [
          {
            kind: 'note' as const,
            text: `The first ${MOST_ENTRIES} differences, in the order of the keys, are listed; there are more.`,
          },
        ]),
  ]
  return {
    title: `List change: ${list.title}`,
    subtitle: `${list.list_key}, version ${from.version} to version ${to.version}`,
    reference: `${list.list_key} ${from.version}-${to.version}`,
    blocks: [
      {
        kind: 'callout' as const,
        tone: 'neutral' as const,
        title: `${format.count(counts.added)} added, ${format.count(counts.removed)} removed, ${format.count(counts.changed)} changed${is_complete ? '' : ', and more'}`,
        text: `Version ${to.version} has ${format.count(to.entry_count)} entries, version ${from.version} had ${format.count(from.entry_count)}.`,
      },
      {
        kind: 'chart' as const,
        type: 'bar' as const,
        title: 'Entries by kind of change',
        labels: ['Added', 'Removed', 'Changed'],
        series: [{ title: 'Entries', values: [counts.added, counts.removed, counts.changed] }],
      },
    ],
    sections: [arrangeVersions(data, format), { title: 'Entries that differ', blocks: entries }],
  }
}

export const listChangeNote = declareTemplate<Parameters, Data>({
  key: 'list-change-note',
  version: 2,
  title: 'List change note',
  description: 'What changed between two versions of a list, who published them, and when they came into force.',
  roles: ['analyst', 'compliance_officer', 'auditor', 'service'],
  parameters: closed({
    list_key: Slug({ description: 'The list.' }),
    from_version: integer(1, 1_000_000_000, { description: 'The earlier version.' }),
    to_version: integer(1, 1_000_000_000, { description: 'The later version.' }),
  }),
  check: async (tx, parameters) => {
    await findVersions(tx, parameters)
  },
  collect: async (kernel, tx, parameters) => {
    const data = await collectChanges(kernel, tx, parameters)
    const toListVersion = ({ version, content_hash }: Data['from']) => ({
      list_key: data.list.list_key,
      version,
      content_hash,
    })
    return { data, decisions: [], list_versions: [toListVersion(data.from), toListVersion(data.to)], restrictions: [] }
  },
  arrange,
})
