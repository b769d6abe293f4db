/** Which rating is in force, and putting a person's in its place. */
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, found } from '../../../kernel/problem.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import { listsInForce, lookUp } from '../../reference-data/index.ts'
import { expectActive } from '../records/actions.ts'
import { lockSubject } from '../records/queries.ts'
import { findRiskStanding, insertOverride, listRatingsById, type RatingRow } from './queries.ts'

/** The list that says which bands there are, unless the tenant's matrix reads another one. */
const BANDS = 'risk-bands'
/** The list that says which reason codes there are. */
const CODES = 'reason-codes'

export async function riskOf(tx: Tx, subject_id: string) {
  const standing = await findRiskStanding(tx, subject_id)
  const { rating_id = null, override_id = null } = standing ?? {}
  const ids = [rating_id, override_id].filter((id) => id !== null)
  const ratings = ids.length > 0 ? await listRatingsById(tx, ids) : []
  const byId = (id: string | null) => ratings.find((rating) => rating.rating_id === id) ?? null
  const [rating, override] = [byId(rating_id), byId(override_id)]
  const source = override ? 'override' : rating ? 'rating' : 'none'
  return {
    subject_id,
    band: (override ?? rating)?.band ?? null,
    source: source as 'override' | 'rating' | 'none',
    override,
    rating,
  }
}

/** What an override is proposed against: it is void when the rating or another override has moved meanwhile. */
export async function headOfRisk(tx: Tx, params: Record<string, string>): Promise<string | null> {
  const standing = await findRiskStanding(tx, params['subject_id'] as string)
  return standing ? `${standing.rated_band ?? '-'}:${standing.override_id ?? '-'}` : null
}

/** Puts a person's rating in place of what the matrix says; an earlier override gives way. */
export async function overrideRating(
  kernel: Kernel,
  tx: Tx,
  subject_id: string,
  order: { readonly band: string; readonly reason: string; readonly reason_code?: string; readonly expires_at: string },
): Promise<RatingRow> {
  expectActive(found(await lockSubject(tx, subject_id)))
  await expectBand(kernel, tx, subject_id, order.band)
  await expectReasonCode(kernel, tx, order.reason_code, 'body')
  const rating = await insertOverride(tx, { rating_id: uuidv7(), subject_id, ...order })
  if (rating) return rating
  return fail('conflict', {
    detail: 'An override ends after now and within 400 days.',
    errors: [{ in: 'body', pointer: '#/expires_at', detail: 'must lie after now and within 400 days' }],
  })
}

/** A band nobody knows is a slip of the pen: it must be on the list of bands, or be what the matrix said of this subject. */
async function expectBand(kernel: Kernel, tx: Tx, subject_id: string, band: string): Promise<void> {
  const bands = (await listsInForce(tx, [BANDS], {})).get(BANDS)
  if (!bands || (await lookUp(kernel, tx, bands, [band])).has(band)) return
  if ((await findRiskStanding(tx, subject_id))?.rated_band === band) return
  fail('conflict', {
    detail: `There is no band ${band}. The list ${BANDS} says which there are.`,
    errors: [{ in: 'body', pointer: '#/band', detail: `must be a band of the list ${BANDS}` }],
  })
}

/** A code that the list does not explain tells its reader nothing. */
export async function expectReasonCode(
  kernel: Kernel,
  tx: Tx,
  code: string | undefined,
  part: 'body' | 'query',
): Promise<void> {
  if (code === undefined) return
  const codes = (await listsInForce(tx, [CODES], {})).get(CODES)
  if (codes && (await lookUp(kernel, tx, codes, [code])).has(code)) return
  fail('conflict', {
    detail: `There is no reason code ${code}. The list ${CODES} says which there are.`,
    errors: [{ in: part, pointer: '#/reason_code', detail: `must be a code of the list ${CODES}` }],
  })
}
