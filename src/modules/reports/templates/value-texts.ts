/** How values of inputs are written for readers: with separators and the unit, and with the title of a code where its list has one. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { ReportFormat } from '#kernel/report-template.ts'
import { resolver } from '#modules/definitions/index.ts'

/** An input as its definition declares it. */
export interface DeclaredInput {
  readonly name: string
  readonly title: string
  readonly type: string
  readonly unit?: string
  readonly scale?: number
  readonly one_of?: { readonly list_key: string }
}

export interface InputText {
  /** Only of amounts: how many decimals they have. */
  readonly scale?: number
  readonly unit?: string
  /** By code, of the codes that the content has. */
  readonly titles?: Readonly<Record<string, string>>
}
export type InputTexts = Readonly<Record<string, InputText>>

/** Lists of categories call the code of an entry `category`; those of countries have a name, which is no title. */
interface TitledEntry {
  readonly category?: unknown
  readonly code?: unknown
  readonly country?: unknown
  readonly alpha_2?: unknown
  readonly title?: unknown
  readonly name?: unknown
  readonly text?: unknown
}

export interface CodeTitle {
  readonly title: string
  readonly text: string
}

/** Entries of a list of codes, as far as they are used. Empty where the list has no titles, or is too large to be one of codes. */
export async function loadTitles(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_key: string,
  codes: readonly unknown[],
): Promise<Record<string, CodeTitle>> {
  try {
    const list = await resolver.loadPolicyList<TitledEntry>(kernel, tx, list_key)
    return Object.fromEntries(
      (list?.entries ?? []).flatMap((entry): [string, CodeTitle][] => {
        const { text } = entry
        const code = entry.code ?? entry.category ?? entry.country ?? entry.alpha_2
        if (typeof code !== 'string' || !codes.includes(code)) return []
        const title = nameEntry(entry, code)
        return title === null ? [] : [[code, { title, text: typeof text === 'string' ? text : '' }]]
      }),
    )
  } catch (error) {
    if (error instanceof Problem) return {}
    throw error
  }
}

/** Readers know countries by their codes too, so a name is printed beside the code. */
const nameEntry = ({ title, name }: TitledEntry, code: string): string | null =>
  typeof title === 'string' ? title : typeof name === 'string' ? `${name} (${code})` : null

export async function loadInputTexts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  inputs: readonly DeclaredInput[],
  values: Readonly<Record<string, unknown>>,
): Promise<InputTexts> {
  const texts: Record<string, InputText> = {}
  for (const { name, type, unit, scale, one_of } of inputs) {
    const codes = [values[name]].flat()
    const titles = one_of ? await loadTitles(kernel, tx, one_of.list_key, codes) : {}
    texts[name] = {
      ...(type === 'decimal' && { scale: scale ?? 2 }),
      ...(unit !== undefined && { unit }),
      ...(Object.keys(titles).length > 0 && {
        titles: Object.fromEntries(Object.entries(titles).map(([code, { title }]) => [code, title])),
      }),
    }
  }
  return texts
}

const DECIMAL = /^-?\d{1,30}(\.\d{1,20})?$/

/** A value of an input, or of an attribute that has its name. */
export function showInput(value: unknown, text: InputText | undefined, format: ReportFormat): string {
  if (text === undefined) return showValue(value)
  if (Array.isArray(value) && value.length > 0) return value.map((one) => showInput(one, text, format)).join(', ')
  const unit = text.unit === undefined ? '' : ` ${text.unit}`
  if (typeof value === 'string' && text.scale !== undefined && DECIMAL.test(value))
    return `${format.decimal(value, text.scale)}${unit}`
  // Without a unit it may be a year, which has no separators.
  if (typeof value === 'number' && text.unit !== undefined) return `${format.count(value)}${unit}`
  return typeof value === 'string' ? (text.titles?.[value] ?? value) : showValue(value)
}

export const showValue = (value: unknown): string => {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(showValue).join(', ')
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(([name, one]) => `${name} ${showValue(one)}`)
  return members.length === 0 ? 'none' : `(${members.join(', ')})`
}
