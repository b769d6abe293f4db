/**
 * Finds the list of records in sample payloads. An array is that list when every payload has it, it holds objects only, and all
 * members beside it on every level describe the answer, such as `meta` or `total`. Otherwise each payload is one record: an extract of
 * a company with a list of its officers is a record, whatever the list is called.
 */
import { formatPointer, isObject } from '#registry/content/json-pointer.ts'
import { toSnakeCase } from './member-names.ts'

const MAX_DEPTH = 16

/** Members that describe an answer and not what it is about. */
const ENVELOPE_NAME =
  /^(?:_?(?:meta|metadata|links?|paging|pagination|pages?|page_\w+|cursor|next|prev|previous|self|first|last)|\w+_(?:cursor|token|page|count|url)|(?:total|count|number_of|num)(?:_\w+)?|has_\w+|size|limit|offset|start(?:_index)?|items_per_page|per_page|results_per_page|query|search|search_term|filters?|facets|aggregations|sort|order|took|timestamp|time|generated_at|updated_at|as_of|status|success|ok|code|messages?|errors?|warnings?|kind|type|etag|schema|context|version|api_version|source|request(?:_id)?|correlation_id|trace_id|copyright|licen[cs]e)$/
/** Lists with these names hold records also beside single values that are not known, such as the term of a search. */
const RECORD_LIST_NAME = /^(?:results?|records|hits|matches|rows)$/

const isEnvelopeMember = (name: string): boolean =>
  name.startsWith('@') || name.startsWith('#') || name.startsWith('$') || ENVELOPE_NAME.test(toSnakeCase(name))

const isSingleValue = (value: unknown): boolean => typeof value !== 'object' || value === null

/** JSON Pointer to the list of records that all payloads have; empty when each payload is one record, or a list of them. */
export function findRecordsPointer(payloads: readonly unknown[]): string {
  const counts = new Map<string, { payloads: number; objects: number }>()
  for (const payload of payloads) {
    for (const { pointer, objects } of collectRecordLists(payload)) {
      const known = counts.get(pointer) ?? { payloads: 0, objects: 0 }
      counts.set(pointer, { payloads: known.payloads + 1, objects: known.objects + objects })
    }
  }
  const found = [...counts].filter(([, count]) => count.payloads === payloads.length && count.objects > 0)
  found.sort(([a, many], [b, more]) => more.objects - many.objects || a.length - b.length || (a < b ? -1 : 1))
  return found[0]?.[0] ?? ''
}

interface RecordList {
  readonly pointer: string
  readonly objects: number
}

function collectRecordLists(payload: unknown): RecordList[] {
  const lists: RecordList[] = []
  const visit = (value: unknown, steps: readonly string[]): void => {
    if (Array.isArray(value)) {
      if (value.every(isObject)) lists.push({ pointer: formatPointer(steps), objects: value.length })
      return
    }
    if (!isObject(value) || steps.length >= MAX_DEPTH) return
    const others = Object.keys(value).filter((name) => !isEnvelopeMember(name))
    for (const name of others) {
      const isRecordList = RECORD_LIST_NAME.test(toSnakeCase(name)) && Array.isArray(value[name])
      const isAlone = others.every((other) => other === name || (isRecordList && isSingleValue(value[other])))
      if (isAlone) visit(value[name], [...steps, name])
    }
  }
  visit(payload, [])
  return lists
}
