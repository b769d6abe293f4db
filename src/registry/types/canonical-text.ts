/**
 * Canonical text of entries of one type. It equals the text of `canonicalJson` but is faster: the order and the encoded names of
 * the declared members are computed once. Other values are passed to `canonicalJson`.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { isObject } from '../content/json-pointer.ts'
import { SchemaTree } from './schema-tree.ts'

/** ASCII without quote, backslash and control characters. */
const PLAIN = /^[ !#-[\]-~]*$/

/** The escape of U+0000, but not an escaped backslash before the same letters. */
const HOLDS_NUL = /(?<!\\)(?:\\\\)*\\u0000/

/** Throws a TypeError for what cannot be stored: lone surrogates, U+0000, anything that is not plain JSON data. */
function writeValue(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`
  if (typeof value === 'number' || typeof value === 'boolean') return canonicalJson(value)
  const text = canonicalJson(value)
  if (text.includes('\\u0000') && HOLDS_NUL.test(text)) throw new TypeError('Canonical text of an entry refuses U+0000')
  return text
}

export function compileCanonical(schema: unknown): (entry: Record<string, unknown>) => string {
  const tree = new SchemaTree(schema)
  const declared = tree
    .getFacets(tree.root)
    .flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []))
  // The default sort compares UTF-16 code units, as RFC 8785 does.
  const names = [...new Set(declared)].sort()
  const first = names.map((name) => `{${JSON.stringify(name)}:`)
  const later = names.map((name) => `,${JSON.stringify(name)}:`)

  return (entry) => {
    let text = ''
    let written = 0
    for (let index = 0; index < names.length; index++) {
      const value = entry[names[index] as string]
      if (value === undefined) continue
      text += (written++ === 0 ? first[index] : later[index]) + writeValue(value)
    }
    let members = 0
    for (const _ in entry) members++
    // An inherited value, a member that is not declared or one that is undefined makes the counts differ.
    return members === written && written > 0 ? `${text}}` : writeValue(entry)
  }
}
