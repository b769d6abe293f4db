/** Entries of lists that a decision read, written for readers: what the key means, and values in units that people use. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { ReportFormat } from '#kernel/report-template.ts'
import { resolver } from '#modules/definitions/index.ts'
import { showValue } from './value-texts.ts'

export interface ReadEntry {
  readonly list_key: string
  readonly key: string
  readonly field: string | null
  readonly value: unknown
}

export interface EntryText {
  /** What the list calls the entry. */
  readonly title?: string
  /** Of an amount in the smallest unit of its currency. */
  readonly currency?: string
  readonly minor_unit?: number
}

type Entry = Readonly<Record<string, unknown>>

const CURRENCIES = 'currencies'
const MINOR = /(^|_)minor$/
const BPS = /(^|_)bps$/

/** Empty where nothing is in force, or where the list is too large to be read as a whole. */
async function loadEntries(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_key: string,
): Promise<ReadonlyMap<string, Entry>> {
  try {
    return (await resolver.loadPolicyEntries<Entry>(kernel, tx, list_key)) ?? new Map()
  } catch (error) {
    if (error instanceof Problem) return new Map()
    throw error
  }
}

/** In the order of `used`. An amount whose entry has another value in the version in force now has no currency. */
export async function loadEntryTexts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  used: readonly ReadEntry[],
): Promise<EntryText[]> {
  const lists = new Map<string, ReadonlyMap<string, Entry>>()
  for (const { list_key } of used)
    if (!lists.has(list_key)) lists.set(list_key, await loadEntries(kernel, tx, list_key))
  const isAmount = ({ field, value }: ReadEntry) => field !== null && MINOR.test(field) && Number.isSafeInteger(value)
  const currencies = used.some(isAmount) ? await loadEntries(kernel, tx, CURRENCIES) : new Map<string, Entry>()
  return used.map((one): EntryText => {
    const entry = lists.get(one.list_key)?.get(one.key)
    if (!entry) return {}
    const title = entry['title'] ?? entry['name']
    const currency = isAmount(one) && entry[one.field as string] === one.value ? entry['currency'] : undefined
    const minor_unit = currencies.get(String(currency))?.['minor_unit']
    return {
      ...(typeof title === 'string' && title !== one.key && { title }),
      ...(typeof currency === 'string' && { currency, minor_unit: typeof minor_unit === 'number' ? minor_unit : 2 }),
    }
  })
}

/** `10000000` with two decimals is `100000.00`: digits, so that no amount is too large. */
function toMajor(value: number, minor_unit: number): string {
  const digits = String(Math.abs(value)).padStart(minor_unit + 1, '0')
  const whole = digits.slice(0, digits.length - minor_unit)
  const sign = value < 0 ? '-' : ''
  return minor_unit === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-minor_unit)}`
}

const toWords = (field: string): string => field.replaceAll('_', ' ').trim()

export function showEntryValue({ field, value }: ReadEntry, text: EntryText, format: ReportFormat): string {
  if (field === null) return value === true ? 'on the list' : 'not on the list'
  if (typeof value === 'number' && text.currency !== undefined) {
    const { currency, minor_unit = 2 } = text
    return `${toWords(field.replace(MINOR, ''))}: ${format.decimal(toMajor(value, minor_unit), minor_unit)} ${currency}`
  }
  if (typeof value === 'number' && BPS.test(field)) return `${toWords(field.replace(BPS, ''))}: ${format.share(value)}`
  return `${toWords(field)}: ${showValue(value)}`
}

export const showEntryKey = ({ key }: ReadEntry, { title }: EntryText): string =>
  title === undefined ? key : `${title} (${key})`
