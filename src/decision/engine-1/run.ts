/** The state of one decision: inputs, results so far, entries read from lists, and faults. */
import type {
  BoundList,
  BoundLists,
  Decision,
  Finding,
  ListEntry,
  PluginCall,
  PluginResults,
  UsedEntry,
} from '../model.ts'
import type { InputValue } from './inputs.ts'
import { MAX_FINDINGS } from './shape.ts'

/** Code of the finding that a plugin has not been run. */
export const RESULT_MISSING = 'plugin_result_missing'

/** Above this number a set is faster than pairwise comparison. */
const FEW_USED = 48

export class Run {
  /** By slot: inputs, scores of factors, the total score. */
  readonly values: InputValue[]
  /** The given values, for the explanation. */
  readonly raw_values: unknown[]
  /** Absent inputs. */
  readonly defaulted: boolean[] = []
  readonly used: UsedEntry[] = []
  readonly findings: Finding[] = []
  readonly reason_codes: string[] = []
  /** The current value of {score_bps}. */
  score_bps = 0
  /** Results of plugins, for engines that have plugin factors. */
  plugins: PluginResults | undefined
  readonly needs: PluginCall[] = []
  private readonly lists: BoundLists | undefined

  constructor(slots: number, lists: BoundLists | undefined) {
    this.values = new Array<InputValue>(slots)
    this.raw_values = new Array<unknown>(slots)
    this.lists = lists
  }

  /** The entry with this key, if it is on the list. */
  find(list: BoundList, key: string): ListEntry | undefined {
    return (this.lists?.get(list.list_key) ?? list).get(key)
  }

  isListed(list: BoundList, key: string): boolean {
    const entry = this.find(list, key)
    const value = entry !== undefined
    this.used.push({ list_key: list.list_key, key, field: null, value, hash: entry?.hash ?? null })
    return value
  }

  recordUsed(entries: readonly UsedEntry[]): void {
    for (const entry of entries) this.used.push(entry)
  }

  /** Always returns null, so that callers can return it. */
  fail(code: string, pointer: string, message: string): null {
    if (this.findings.length < MAX_FINDINGS) this.findings.push({ code, pointer, message, severity: 'error' })
    return null
  }

  /** Faults come before missing results of plugins: no plugin is run for what cannot be decided anyway. */
  refuse(): Extract<Decision, { ok: false }> {
    if (this.needs.length === 0) return { ok: false, findings: this.findings }
    const places = new Set(this.needs.map(({ pointer }) => pointer))
    const faults = this.findings.filter(({ code, pointer }) => code !== RESULT_MISSING || !places.has(pointer))
    return faults.length > 0
      ? { ok: false, findings: faults }
      : { ok: false, findings: this.findings, needs: this.needs }
  }

  addReasonCode(code: string | null | undefined): void {
    if (code && !this.reason_codes.includes(code)) this.reason_codes.push(code)
  }

  listDistinctUsed(): UsedEntry[] {
    // Repeated reads mostly return the same object.
    const used = [...new Set(this.used)]
    if (used.length > FEW_USED) {
      const byText = new Map<string, UsedEntry>()
      for (const each of used) {
        const text = usedEntryKey(each)
        if (!byText.has(text)) byText.set(text, each)
      }
      return [...byText.values()]
    }
    const distinct: UsedEntry[] = []
    for (const each of used) if (!distinct.some((other) => isSameEntry(each, other))) distinct.push(each)
    return distinct
  }
}

/** The key is prefixed with its length, so that different places never give the same text. */
const usedEntryKey = ({ list_key, key, field }: UsedEntry): string =>
  field === null ? `${list_key} - ${key}` : `${list_key} ${field.length} ${field}${key}`

const isSameEntry = (a: UsedEntry, b: UsedEntry): boolean =>
  a === b || (a.key === b.key && a.list_key === b.list_key && a.field === b.field)
