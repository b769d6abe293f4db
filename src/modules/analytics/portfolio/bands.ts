/** The risk bands in force, from the lowest to the highest. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'

const BAND_LIST = 'risk-bands'

export interface Band {
  readonly band: string
  readonly title: string
}

interface BandEntry {
  readonly title?: string
  readonly from_bps?: number
}

/** `list` is the version that was read; null where the list is not in force. */
export async function listBands(kernel: Capabilities<'caches'>, tx: Tx) {
  const pointer = (await resolver.findPointersInForce(tx, [BAND_LIST], {})).get(BAND_LIST)
  const content = pointer && (await resolver.loadList(kernel, tx, pointer))
  const entries = [...(content?.entries ?? [])].map(([band, { entry }]) => ({ band, ...(entry as BandEntry) }))
  const bands = entries
    .sort((one, two) => (one.from_bps ?? 0) - (two.from_bps ?? 0))
    .map(({ band, title }): Band => ({ band, title: title ?? band }))
  return {
    bands,
    list: pointer ? { list_key: BAND_LIST, version: pointer.version, content_hash: pointer.content_hash } : null,
  }
}
