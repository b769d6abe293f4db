/**
 * `reference-data list|types|activate|schedule|rollback|diff|withdraw --shared`: operator commands on the lists that all tenants
 * share, with the same functions as the API. Importing has a file of its own.
 */
import { activationStore, differenceStore, typeStore, versionStore } from '#modules/definitions/index.ts'

import { listFieldChanges } from '#registry/content/json-patch.ts'
import { type Command, type Invocation, type Option, parseInteger, UsageError } from './command.ts'
import { formatTable } from './format-table.ts'
import {
  ACTOR_OPTIONS,
  type ActivationTime,
  activateSharedVersion,
  describeActivationChange,
  describeListStatus,
  formatSummary,
  listSharedLists,
  readActivationTime,
  readReason,
  readScope,
  recordSharedListEvent,
  requireList,
  requireVersion,
  SHARED_OPTION,
  withSharedLists,
} from './shared-list.ts'

const LIST: Option = { type: 'string', value: 'KEY', about: 'the list' }
const VERSION: Option = { type: 'string', value: 'VERSION', about: 'number or label of the version' }
const JSON_OUT: Option = { type: 'boolean', about: 'print JSON' }
const MAX_LISTED = 1000

export const referenceDataList: Command = {
  options: { ...SHARED_OPTION, json: JSON_OUT },
  run: async (invocation) => {
    const scope = readScope(invocation)
    return withSharedLists(invocation, scope, async ({ read }) => {
      const lists = await read(listSharedLists)
      const rows = lists.map(({ list_key, type_key, title, head_version, overlay_policy, state, active, pending }) => ({
        list_key,
        type_key,
        newest: head_version,
        in_force: (active as { version: number } | null)?.version ?? null,
        pending: (pending as { version: number; effective_from: string }[])
          .map(({ version, effective_from }) => `${version} from ${effective_from}`)
          .join(', '),
        overlay_policy,
        state,
        title,
      }))
      invocation.terminal.out(invocation.args.flag('json') ? JSON.stringify(rows, null, 2) : formatTable(rows))
      return 0
    })
  },
}

export const referenceDataTypes: Command = {
  options: { ...SHARED_OPTION, json: JSON_OUT },
  run: async (invocation) => {
    const scope = readScope(invocation)
    return withSharedLists(invocation, scope, async ({ read }) => {
      const types = await read((tx) => typeStore.listTypes(tx, 'own', null, MAX_LISTED))
      const rows = types.map(({ type_key, type_version, definition }) => ({
        type_key,
        type_version,
        key: definition.key_pointers.join(' '),
        title: definition.title,
      }))
      invocation.terminal.out(invocation.args.flag('json') ? JSON.stringify(rows, null, 2) : formatTable(rows))
      return 0
    })
  },
}

/** Shows what will change, changes it, and shows the new state. */
async function activateAndReport(invocation: Invocation, moment: ActivationTime): Promise<number> {
  const { args, terminal } = invocation
  const [list_key, wanted] = [args.required('list'), args.required('version')]
  const scope = readScope(invocation)
  return withSharedLists(invocation, scope, async ({ read, write }) => {
    const version = await read(async (tx) => {
      const list = await requireList(tx, list_key)
      const found = await requireVersion(tx, list, wanted)
      terminal.note(await describeListStatus(tx, list))
      terminal.note(await describeActivationChange(tx, list, found.version))
      return found.version
    })
    const made = await write((tx) => activateSharedVersion(tx, list_key, version, moment))
    terminal.out(`Version ${version} of ${list_key} is in force from ${made.effective_from}.`)
    terminal.note(await read(async (tx) => describeListStatus(tx, await requireList(tx, list_key))))
    return 0
  })
}

export const referenceDataActivate: Command = {
  about: `
Tenants see a shared change coming: it takes effect 24 hours from now, or at once with --now and a reason that all of them can
read. "reference-data schedule" names a later instant.

Examples:
  npx probity reference-data activate --shared --list fatf-lists --version 4 --reason 'October plenary'
  npx probity reference-data activate --shared --list fatf-lists --version 4 --now 'Listed tonight, binding at once'`,
  options: {
    ...ACTOR_OPTIONS,
    list: LIST,
    version: VERSION,
    reason: { type: 'string', value: 'TEXT', about: 'why, for the record' },
    now: { type: 'string', value: 'REASON', about: 'at once, and why it cannot wait' },
  },
  run: async (invocation) => {
    const { args } = invocation
    readScope(invocation)
    args.required('list')
    args.required('version')
    if (args.text('now') !== undefined && args.text('reason') !== undefined) {
      throw new UsageError('--now carries the reason itself; leave --reason out.')
    }
    return activateAndReport(invocation, readActivationTime(invocation))
  },
}

export const referenceDataSchedule: Command = {
  about: `
The instant is at least 24 hours ahead. Until then tenants see the version as pending; a rollback revokes it.

Example:
  npx probity reference-data schedule --shared --list countries --version 2 --at 2027-01-01T00:00:00Z --reason 'ISO newsletter'`,
  options: {
    ...ACTOR_OPTIONS,
    list: LIST,
    version: VERSION,
    at: { type: 'string', value: 'INSTANT', about: 'from when, for example 2027-01-31T06:00:00Z' },
    reason: { type: 'string', value: 'TEXT', about: 'why, for the record' },
  },
  run: async (invocation) => {
    const { args } = invocation
    readScope(invocation)
    for (const name of ['list', 'version', 'at', 'reason']) args.required(name)
    return activateAndReport(invocation, readActivationTime(invocation))
  },
}

export const referenceDataRollback: Command = {
  about: `
Takes effect at once, so it needs a reason that all tenants can read. It goes to what was in force before, or to the version
named with --to. Scheduled activations are revoked unless --keep-scheduled is given.

Example:
  npx probity reference-data rollback --shared --list fatf-lists --now 'Version 4 lacks a page'`,
  options: {
    ...ACTOR_OPTIONS,
    list: LIST,
    now: { type: 'string', value: 'REASON', about: 'why' },
    to: { type: 'string', value: 'VERSION', about: 'number or label (default: what was in force before)' },
    'keep-scheduled': { type: 'boolean', about: 'leave scheduled activations as they are' },
  },
  run: async (invocation) => {
    const { args, terminal } = invocation
    const scope = readScope(invocation)
    const list_key = args.required('list')
    const reason = readReason('now', args.required('now'))
    return withSharedLists(invocation, scope, async ({ read, write }) => {
      const to_version = await read(async (tx) => {
        const list = await requireList(tx, list_key)
        terminal.note(await describeListStatus(tx, list))
        const to = args.text('to')
        if (to === undefined) return undefined
        const { version } = await requireVersion(tx, list, to)
        terminal.note(await describeActivationChange(tx, list, version))
        return version
      })
      const { from, activation, revoked } = await write(async (tx) => {
        const before = await activationStore.findActivationInForce(tx, 'list', list_key, 'base')
        const keep_scheduled = args.flag('keep-scheduled')
        const made = await activationStore.rollBack(tx, { list_key, to_version, reason, keep_scheduled })
        await recordSharedListEvent(tx, 'rollBackSharedList', list_key, {
          from: before?.version ?? null,
          to: made.activation.version,
          reason,
          revoked: made.revoked.map(({ version, effective_from }) => ({ version, effective_from })),
        })
        return { from: before?.version as number, ...made }
      })
      const to = activation.version as number
      terminal.out(`Version ${to} of ${list_key} is in force again, instead of ${from}.`)
      for (const { version, effective_from } of revoked) {
        terminal.out(`Revoked: version ${version} from ${effective_from}.`)
      }
      await read(async (tx) => {
        const list = await requireList(tx, list_key)
        if (from !== to)
          terminal.note(
            formatSummary(
              await differenceStore.countDifferences(
                (body) => body(tx),
                { ...list, version: from },
                { ...list, version: to },
              ),
            ),
          )
        terminal.note(await describeListStatus(tx, list))
      })
      return 0
    })
  },
}

export const referenceDataWithdraw: Command = {
  about: `
Nothing is deleted and nothing in force changes: a version that is in force, or scheduled to be, is refused until another replaces it.
A tenant that has pinned the version keeps it until its pin ends.

Example:
  npx probity reference-data withdraw --shared --list fatf-lists --version 4 --reason 'Published with a page missing'`,
  options: {
    ...ACTOR_OPTIONS,
    list: LIST,
    version: VERSION,
    reason: { type: 'string', value: 'TEXT', about: 'why, for the record' },
  },
  run: async (invocation) => {
    const { args, terminal } = invocation
    const scope = readScope(invocation)
    const [list_key, wanted] = [args.required('list'), args.required('version')]
    const reason = readReason('reason', args.required('reason'))
    return withSharedLists(invocation, scope, async ({ write }) => {
      const { version } = await write(async (tx) => {
        const list = await requireList(tx, list_key)
        const found = await requireVersion(tx, list, wanted)
        if (found.state === 'withdrawn')
          throw new Error(`Version ${found.version} of ${list_key} is withdrawn already.`)
        await activationStore.assertNotInForce(tx, list, found.version)
        await versionStore.updateVersionState(tx, list, found.version, 'withdrawn')
        await recordSharedListEvent(tx, 'withdrawSharedVersion', list_key, {
          version: found.version,
          content_hash: found.content_hash,
          reason,
        })
        return found
      })
      terminal.out(`Version ${version} of ${list_key} is withdrawn.`)
      return 0
    })
  },
}

const MAX_SHOWN = 100_000

export const referenceDataDiff: Command = {
  about: `
Example:
  npx probity reference-data diff --shared --list fatf-lists --from 3 --to 4`,
  options: {
    ...SHARED_OPTION,
    list: LIST,
    from: { type: 'string', value: 'VERSION', about: 'number or label of the one' },
    to: { type: 'string', value: 'VERSION', about: 'number or label of the other' },
    limit: { type: 'string', value: 'N', about: 'how many keys to show (default 50; as JSON 10000)' },
    json: JSON_OUT,
  },
  run: async (invocation) => {
    const { args, terminal } = invocation
    const scope = readScope(invocation)
    const [list_key, from, to] = [args.required('list'), args.required('from'), args.required('to')]
    const asJson = args.flag('json')
    const limit = parseInteger('limit', args.text('limit') ?? (asJson ? '10000' : '50'), 1, MAX_SHOWN)
    return withSharedLists(invocation, scope, async ({ read }) => {
      const found = await read(async (tx) => {
        const list = await requireList(tx, list_key)
        const [one, other] = [await requireVersion(tx, list, from), await requireVersion(tx, list, to)]
        const range = { from: one.version, to: other.version }
        const rows = await versionStore.listDifferences(tx, list, range, { after: null, prefix: null, count: limit })
        return {
          one,
          other,
          range,
          rows,
          summary: await differenceStore.countDifferences((body) => body(tx), one, other),
        }
      })
      const { one, other, range, summary } = found
      const items = found.rows.map((row) => {
        const [before, after] = versionStore.parseDifference(row)
        const op = before ? (after ? 'changed' : 'removed') : 'added'
        return { op, key: row.key, before, after, changes: before && after ? listFieldChanges(before, after) : [] }
      })
      const total = summary.added + summary.removed + summary.changed
      if (asJson) {
        const hashes = { from_hash: one.content_hash, to_hash: other.content_hash }
        terminal.out(JSON.stringify({ list_key, ...range, ...hashes, summary, items, total }, null, 2))
        return 0
      }
      terminal.out(`${list_key}, version ${range.from} to ${range.to}: ${formatSummary(summary)}`)
      if (items.length === 0) return 0
      terminal.out(
        formatTable(
          items.flatMap(({ op, key, before, after, changes }) =>
            op === 'changed'
              ? changes.map((change, index) => ({
                  what: index === 0 ? op : '',
                  key: index === 0 ? key : '',
                  field: change.pointer,
                  before: formatCell(change.before),
                  after: formatCell(change.after),
                }))
              : [{ what: op, key, field: '', before: formatCell(before), after: formatCell(after) }],
          ),
        ),
      )
      if (total > items.length)
        terminal.note(`${total - items.length} more keys; --limit shows more, --json all fields.`)
      return 0
    })
  },
}

const MAX_CELL = 60

/** A value in a cell of a table; empty for null. */
function formatCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ')
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line
}
