/** Routes of lineage and drift. */
import { buildLineage, listUnreadPersonal } from '#contract/lineage.ts'
import type { SketchSummary } from '#contract/sketch.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { CONTRACT_FAMILY, findContractLists, loadContractInForce } from '../bind-contract.ts'
import { listFactReaders } from '../queries.ts'
import { KeyParams } from '../schema.ts'
import {
  type DriftFindingRow,
  findDriftFinding,
  insertDriftAcknowledgement,
  listDriftFindings,
  listViolationGroups,
  listWindows,
} from './queries.ts'
import { Acknowledgement, Drift, DriftQuery, Finding, FindingParams, Lineage } from './schema.ts'
import { decryptSketch } from './windows.ts'

const LINEAGE_DAYS = 90
const MAX_LINEAGE_WINDOWS = 100
const MAX_WINDOWS = 50
const MAX_GROUPS = 100
const DAY_MS = 86_400_000

const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString()

const toFindingView = ({ contract_key: _, ...finding }: DriftFindingRow) => finding

export const driftRoutes: readonly Route[] = [
  tenantRoute('GET /source-contracts/:contract_key/lineage', {
    id: 'getSourceContractLineage',
    summary: 'Every member that is declared or arrived in 90 days: the facts it gives and what reads them',
    description: 'Of the version in force. `personal_unread` lists personal data that is collected and never read.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches', 'encryption'],
    params: KeyParams,
    reply: [200, Lineage],
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const { contract_key } = params
    const { contract, compiled, version } = await loadContractInForce(kernel, tx, contract_key)
    const sketches: SketchSummary[] = []
    for (const window of await listWindows(tx, contract_key, daysAgo(LINEAGE_DAYS), MAX_LINEAGE_WINDOWS)) {
      sketches.push(await decryptSketch(kernel, tx, window))
    }
    const items = buildLineage(contract, sketches, await listFactReaders(tx, contract_key))
    return {
      contract_key,
      version,
      records: sketches.reduce((sum, { records }) => sum + records, 0),
      items,
      personal_unread: listUnreadPersonal(items),
      lists: documentStore.toListVersions(await findContractLists(tx, compiled)),
    }
  }),

  tenantRoute('GET /source-contracts/:contract_key/drift', {
    id: 'listSourceContractDrift',
    summary: 'How payloads changed against the baseline of their version, with the windows that were compared',
    description:
      'A window is closed after 1,000 payloads or a day and compared with the first one of the version. Nothing is refused because ' +
      'of a finding; each is reported once for a version, with the first payload that showed it.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: KeyParams,
    query: DriftQuery,
    reply: [200, Drift],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query } = input
    const { list_key } = await documentStore.getDefinition(tx, CONTRACT_FAMILY, params.contract_key)
    const acknowledged = query.acknowledged === undefined ? null : query.acknowledged === 'yes'
    const page = await paginate(input, `listSourceContractDrift ${list_key}`, ['finding_id'], (after, count) =>
      listDriftFindings(
        tx,
        { contract_key: list_key, acknowledged },
        (after?.[0] as string | undefined) ?? null,
        count,
      ),
    )
    const isFirst = query.cursor === undefined
    const windows = isFirst ? await listWindows(tx, list_key, daysAgo(LINEAGE_DAYS), MAX_WINDOWS) : []
    const groups = isFirst ? await listViolationGroups(tx, list_key, MAX_GROUPS) : []
    return {
      items: page.items.map(toFindingView),
      next_cursor: page.next_cursor,
      windows: windows.map(({ sketch: _s, last_admission_id: _l, contract_key: _k, ...window }) => window),
      violations: groups.map(({ contract_key: _, ...group }) => ({ ...group, samples: [...group.samples] })),
    }
  }),

  tenantRoute('POST /source-contracts/:contract_key/drift/:finding_id/acknowledge', {
    id: 'acknowledgeDriftFinding',
    summary: 'Acknowledge a drift finding, with a note of what follows from it',
    description: 'Once for a finding. Nothing else changes: payloads are admitted as before.',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    params: FindingParams,
    body: Acknowledgement,
    reply: [200, Finding],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, audit }) => {
    const { contract_key, finding_id } = params
    const found = assertFound(await findDriftFinding(tx, contract_key, finding_id))
    if (!(await insertDriftAcknowledgement(tx, finding_id, body.note ?? null)))
      fail('transition_not_allowed', `${found.acknowledged_by ?? 'Somebody'} has acknowledged it already.`)
    const { kind, pointer, contract_version } = found
    audit.recordDiff(null, { finding_id, contract_key, contract_version, kind, pointer })
    if (body.note) audit.recordText('note', body.note)
    return toFindingView(assertFound(await findDriftFinding(tx, contract_key, finding_id)))
  }),
]
