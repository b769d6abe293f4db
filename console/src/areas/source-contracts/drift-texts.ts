/** Findings of drift in words, with the figures that bars compare. Pure. */
import type { Schemas } from '@probity/client'

type Finding = Pick<Schemas['DriftFinding'], 'kind' | 'item' | 'facts'>

const percent = (share: unknown): string =>
  typeof share === 'number' ? `${(100 * share).toLocaleString('en', { maximumFractionDigits: 1 })} %` : '?'
const number = (value: unknown): string => (typeof value === 'number' ? value.toLocaleString('en') : '?')

const kindWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'yes or no',
  object: 'an object',
  array: 'a list',
  null: 'empty',
}
const toKindWord = (kind: unknown): string => kindWords[String(kind)] ?? String(kind)

export const driftTitles: Readonly<Record<Finding['kind'], string>> = {
  new_member: 'New field',
  vanished_member: 'Field no longer sent',
  kind_changed: 'Another kind of value',
  null_share_up: 'Empty more often',
  null_share_down: 'Empty less often',
  new_value: 'New value',
  number_above: 'Much larger numbers',
  number_below: 'Much smaller numbers',
  text_longer: 'Much longer texts',
}

/** What was so before and what is so now. */
export function describeDrift({ kind, item, facts }: Finding): readonly [before: string, now: string] {
  switch (kind) {
    case 'new_member':
      return [
        'not sent',
        `in ${percent(facts['share'])} of records${facts['declared'] === false ? ', not declared by the contract' : ''}`,
      ]
    case 'vanished_member':
      return [`in ${percent(facts['share_before'])} of records`, `in ${percent(facts['share_now'])} of records`]
    case 'kind_changed': {
      const before = facts['kinds_before']
      return [
        (Array.isArray(before) ? before : []).map(toKindWord).join(' or ') || '?',
        `${toKindWord(item)} in ${percent(facts['share'])} of values`,
      ]
    }
    case 'null_share_up':
    case 'null_share_down':
      return [`empty in ${percent(facts['share_before'])}`, `empty in ${percent(facts['share_now'])}`]
    case 'new_value':
      return [`${number(facts['values_before'])} known values`, `“${item}” in ${percent(facts['share'])} of values`]
    case 'number_above':
      return [
        `${number(facts['minimum_before'])} to ${number(facts['maximum_before'])}`,
        `up to ${number(facts['maximum_now'])}`,
      ]
    case 'number_below':
      return [
        `${number(facts['minimum_before'])} to ${number(facts['maximum_before'])}`,
        `down to ${number(facts['minimum_now'])}`,
      ]
    case 'text_longer':
      return [
        `at most ${number(facts['longest_before'])} characters`,
        `up to ${number(facts['longest_now'])} characters`,
      ]
  }
}

/** Two shares from 0 to 1, drawn as bars; null where words say it better. */
export function getDriftShares({ kind, facts }: Finding): readonly [before: number, now: number] | null {
  const read = (name: string): number | null => (typeof facts[name] === 'number' ? (facts[name] as number) : null)
  if (kind === 'new_member' || kind === 'new_value' || kind === 'kind_changed') {
    const share = read('share')
    return share === null ? null : [0, share]
  }
  const pairs = {
    vanished_member: ['share_before', 'share_now'],
    null_share_up: ['share_before', 'share_now'],
    null_share_down: ['share_before', 'share_now'],
    text_longer: ['longest_before', 'longest_now'],
    number_above: ['maximum_before', 'maximum_now'],
  } as const
  const names = kind in pairs ? pairs[kind as keyof typeof pairs] : null
  const [before, now] = names ? [read(names[0]), read(names[1])] : [null, null]
  if (before === null || now === null || before < 0 || now < 0) return null
  // Lengths and numbers are drawn relative to the larger one.
  const full = kind === 'text_longer' || kind === 'number_above' ? Math.max(before, now, 1) : 1
  return [before / full, now / full]
}
