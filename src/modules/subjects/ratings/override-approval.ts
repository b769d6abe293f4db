/** The order of the risk bands, and whether an override lowers a rating and therefore needs the approval of a second person. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ApprovalRule } from '#kernel/request/queries.ts'
import { needsApproval } from '#modules/access/index.ts'
import { resolver, versionStore } from '#modules/definitions/index.ts'
import { findSubjectRisk } from './queries.ts'

/** The list of known bands, unless the tenant's matrix reads another one. */
export const BAND_LIST = 'risk-bands'

/** More than any list of bands holds. */
const MAX_BANDS = 200

export interface OrderedBand {
  readonly band: string
  readonly title: string
  readonly from_bps: number
}

/** The bands of the list in force, from the lowest to the highest; empty where there is none. */
export async function listBandsInOrder(tx: Tx): Promise<OrderedBand[]> {
  const pointer = (await resolver.findPointersInForce(tx, [BAND_LIST], {})).get(BAND_LIST)
  if (!pointer) return []
  const of = { tenant_id: pointer.dataset_tenant_id, dataset_id: pointer.dataset_id, version: pointer.version }
  const rows = await versionStore.listEntries(tx, of, null, MAX_BANDS)
  return rows
    .map((row) => {
      const { title, from_bps } = versionStore.parseEntry(row) as { title?: string; from_bps?: number }
      return { band: row.key, title: title ?? row.key, from_bps: from_bps ?? 0 }
    })
    .sort((one, two) => one.from_bps - two.from_bps)
}

/** The state that a proposed override is bound to: a new rating or override makes the proposal void. */
export async function getRiskHead(tx: Tx, params: Record<string, string>): Promise<string | null> {
  const risk = await findSubjectRisk(tx, params['subject_id'] as string)
  return risk ? `${risk.rated_band ?? '-'}:${risk.override_id ?? '-'}` : null
}

/** An unknown band cannot be compared. It counts as lower, so that the override needs approval. */
function isLower(bands: readonly OrderedBand[], band: string, than: string | null): boolean {
  if (than === null || band === than) return false
  const [place, other] = [band, than].map((one) => bands.findIndex((known) => known.band === one)) as [number, number]
  return place < 0 || other < 0 || place < other
}

/**
 * The rule for an override that lowers a rating, where the approval policy has none for overrides: one compliance officer. It is
 * compared with the band in force and with that of the matrix, so that a lowering override cannot be prolonged alone either.
 */
export async function findLoweringRule(tx: Tx, subject_id: string, band: string): Promise<ApprovalRule | undefined> {
  const risk = await findSubjectRisk(tx, subject_id)
  if (!risk) return undefined
  const bands = await listBandsInOrder(tx)
  if (![risk.rated_band, risk.override_band].some((than) => isLower(bands, band, than))) return undefined
  const rule = { action: 'risk-override', approvers: 1, role: 'compliance_officer', require_impact: false }
  return (await needsApproval(tx, rule)) ? rule : undefined
}
