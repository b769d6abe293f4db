/** The rating in force, and overriding it. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'
import { findUnknownReasonCodes, REASON_CODE_LIST } from '#modules/reference-data/index.ts'
import { lockSubject } from '../records/queries.ts'
import { assertActive } from '../records/upsert-subjects.ts'
import { BAND_LIST } from './override-approval.ts'
import { findSubjectRisk, insertOverride, listRatingsById, type RatingRow } from './queries.ts'

export async function getRisk(tx: Tx, subject_id: string) {
  const subject_risk = await findSubjectRisk(tx, subject_id)
  const { rating_id = null, override_id = null } = subject_risk ?? {}
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

/** Overrides the rating of the matrix; replaces an earlier override. */
export async function overrideRating(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  subject_id: string,
  request: {
    readonly band: string
    readonly reason: string
    readonly reason_code?: string
    readonly expires_at: string
    readonly cr_id: string | null
  },
): Promise<RatingRow> {
  assertActive(assertFound(await lockSubject(tx, subject_id)))
  await assertKnownBand(kernel, tx, subject_id, request.band)
  await assertKnownReasonCode(kernel, tx, request.reason_code, 'body')
  const rating = await insertOverride(tx, { rating_id: uuidv7(), subject_id, ...request })
  if (rating) return rating
  return fail('validation_failed', {
    detail: 'An override ends after now and within 400 days.',
    errors: [{ in: 'body', pointer: '#/expires_at', detail: 'must lie after now and within 400 days' }],
  })
}

/** Refuses typing errors: the band must be on the list of bands, or be the rated band of this subject. */
async function assertKnownBand(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  subject_id: string,
  band: string,
): Promise<void> {
  const bands = (await resolver.findPointersInForce(tx, [BAND_LIST], {})).get(BAND_LIST)
  if (!bands || (await resolver.lookUpEntries(kernel, tx, bands, [band])).has(band)) return
  if ((await findSubjectRisk(tx, subject_id))?.rated_band === band) return
  fail('conflict', {
    detail: `There is no band ${band}. The list ${BAND_LIST} says which there are.`,
    errors: [{ in: 'body', pointer: '#/band', detail: `must be a band of the list ${BAND_LIST}` }],
  })
}

/** The code must be on the list of reason codes, which explains it to readers. */
export async function assertKnownReasonCode(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  code: string | undefined,
  part: 'body' | 'query',
): Promise<void> {
  if (code === undefined) return
  if ((await findUnknownReasonCodes(kernel, tx, [code])).size === 0) return
  fail('conflict', {
    detail: `There is no reason code ${code}. The list ${REASON_CODE_LIST} says which there are.`,
    errors: [{ in: part, pointer: '#/reason_code', detail: `must be a code of the list ${REASON_CODE_LIST}` }],
  })
}
