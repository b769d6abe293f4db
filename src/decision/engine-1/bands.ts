/** The bands of a matrix, read from their list: contiguous over 0 to 10000 basis points, or a finding. */
import type { Bands, UsedEntry } from '../model.ts'
import { type Binder, createFieldReader, isScore } from './binder.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { formatForMessage } from './shape.ts'

export interface BoundBand {
  readonly band: string
  readonly from: number
  readonly to: number
  /** 0 for the lowest. */
  readonly rank: number
  readonly used: readonly UsedEntry[]
}

/** Lowest first; empty after a finding. */
export function bindBands({ list_key, band_field, from_field, to_field }: Bands, binder: Binder): BoundBand[] {
  const { findings } = binder
  const list = binder.bindList(list_key, '/bands/list_key')
  if (!list.all) findings.error('list_too_large', '/bands/list_key', `The list "${list_key}" is too large for bands.`)
  const before = findings.count
  const bands = (list.all ?? []).map(({ key, entry, hash }) => {
    const read = (field: string, fits: (value: unknown) => boolean, at: string, wanted: string) => {
      const value = createFieldReader(field)(entry)
      if (!fits(value)) {
        const message = `The entry "${key}" of the list "${list_key}" must have ${wanted} at "${field}", not ${formatForMessage(value)}.`
        findings.error('band_invalid', `/bands/${at}`, message)
      }
      return { value, used: { list_key, key, field, value, hash } }
    }
    const score = `a whole number from 0 to ${MAX_SCORE_BPS}`
    const band = read(band_field, (value) => typeof value === 'string' && value !== '', 'band_field', 'a text')
    const from = read(from_field, isScore, 'from_field', score)
    const to = read(to_field, isScore, 'to_field', score)
    return {
      band: band.value as string,
      from: from.value as number,
      to: to.value as number,
      used: [band.used, from.used, to.used],
    }
  })
  if (findings.count > before || !list.all || list.list_key === '') return []
  bands.sort((a, b) => a.from - b.from || a.to - b.to)
  const refuse = (code: string, message: string) => findings.error(code, '/bands', message)
  let next = 0
  for (const { band, from, to } of bands) {
    if (from > to) refuse('band_invalid', `The band "${band}" ends before it begins.`)
    if (from > next) refuse('band_gap', `No band covers ${next} to ${from - 1}.`)
    if (from < next) refuse('band_overlap', `The band "${band}" begins at ${from}, where another one already is.`)
    next = Math.max(next, to + 1)
  }
  if (next <= MAX_SCORE_BPS) refuse('band_gap', `No band covers ${next} to ${MAX_SCORE_BPS}.`)
  const names = bands.map(({ band }) => band)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) refuse('band_repeated', `There are two bands "${repeated}".`)
  return findings.count > before ? [] : bands.map((band, rank) => ({ ...band, rank }))
}
