/**
 * The text of an explanation for people. What a decision recorded stays exact; here references to lists, trailing zeros and
 * intervals are put into words, and keys get the names that their list gives them. Pure.
 */

import { formatPoints } from '../points.ts'

const LIST_REFERENCE = / \([a-z0-9_-]+ v\d+, [^()]*\)/g
const INTERVAL = /([[(])(-?[\d.,]+)\.\.(-?[\d.,]+?)([\])])/g
const EXACT_NUMBER = /\d+\.\d{4}(?!\d)/g
/** Other numbers may be years, which have no separator. */
const SCORE = /(?<=\b(?:rated|contributes) )\d{4,}(?!\.?\d)|(?<![\d.,])\d{4,}(?= points)/g

const formatInterval = (_: string, open: string, from: string, to: string, close: string): string =>
  open === '[' && close === ']'
    ? `${from} to ${to}`
    : `${open === '[' ? 'at least' : 'more than'} ${from}, ${close === ']' ? 'at most' : 'less than'} ${to}`

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Names by key, as the lists give them. */
export type EntryNames = ReadonlyMap<string, string>

function addNames(text: string, names: EntryNames): string {
  return [...names].reduce((said, [key, name]) => {
    if (name === key || said.includes(name)) return said
    // A key that is part of a longer word or number is not meant.
    return said.replace(new RegExp(`(?<![\\w.,|-])${escapePattern(key)}(?![\\w|-])`), `${name} (${key})`)
  }, text)
}

/** A key that is a word of its own is named only where a sentence names lists: `by the list countries`. */
const LIST_KEY = /(?<=\b(?:by|by the list|on the list) )[a-z0-9]+(?:[-_][a-z0-9]+)*(?![\w-])/gi

const addListTitles = (text: string, titles: ReadonlyMap<string, string>): string =>
  text.replaceAll(LIST_KEY, (key) => titles.get(key) ?? key)

/** `Registration in JE is rated 3500` → `Registration in Jersey (JE) is rated 3,500`. */
export const formatReason = (
  reason: string,
  names: EntryNames = new Map(),
  listTitles: ReadonlyMap<string, string> = new Map(),
): string =>
  addNames(
    addListTitles(reason, listTitles)
      .replaceAll(LIST_REFERENCE, '')
      .replaceAll(INTERVAL, formatInterval)
      .replaceAll(EXACT_NUMBER, (exact) => String(Number(exact)))
      .replaceAll('basis points', 'points')
      .replaceAll(SCORE, (score) => formatPoints(Number(score)))
      .replaceAll('By the lists:', 'Limits:'),
    names,
  )
