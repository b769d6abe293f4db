/**
 * The keyword `uniqueItems` in linear time. Ajv compares every pair of items where they may be objects or arrays, which takes
 * minutes for a list of a few hundred thousand.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'

/** Fewer than this are compared directly, which is faster than hashing them. */
const FEW = 50
/** Secret: the author of the items must not be able to choose items whose hashes collide. */
const SECRET = randomBytes(16).toString('hex')

type Validate = ((isUnique: boolean, items: readonly unknown[]) => boolean) & { errors?: Partial<ErrorObject>[] }

export function replaceUniqueItems(ajv: Ajv2020): void {
  const validate: Validate = (isUnique, items) => {
    const repeated = isUnique ? findRepeatedItem(items) : null
    if (repeated === null) return true
    const [j, i] = repeated
    const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`
    validate.errors = [{ keyword: 'uniqueItems', params: { i, j }, message }]
    return false
  }
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: true, validate })
}

/** The positions of two equal items. */
export function findRepeatedItem(items: readonly unknown[]): readonly [first: number, second: number] | null {
  return items.length < FEW ? comparePairs(items) : compareHashes(items)
}

function comparePairs(items: readonly unknown[]): readonly [number, number] | null {
  const texts = items.map(toText)
  for (const [index, text] of texts.entries()) {
    const first = texts.indexOf(text)
    if (first < index) return [first, index]
  }
  return null
}

/** A hash table in typed arrays: a Map of a million texts would need one block of tens of MiB of the heap. */
function compareHashes(items: readonly unknown[]): readonly [number, number] | null {
  const size = 2 ** Math.ceil(Math.log2(items.length * 2))
  /** One more than the position of the item; 0 is an empty place. */
  const table = new Uint32Array(size)
  const hashes = new Uint32Array(items.length)
  for (const [index, item] of items.entries()) {
    const text = toText(item)
    const code = hash('sha256', SECRET + text, 'buffer').readUInt32BE()
    hashes[index] = code
    let place = code % size
    for (; table[place] !== 0; place = (place + 1) % size) {
      const other = (table[place] as number) - 1
      if (hashes[other] === code && toText(items[other]) === text) return [other, index]
    }
    table[place] = index + 1
  }
  return null
}

/** The same for equal JSON values, whatever the order of their members. Any number and any text has one. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toText).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([one], [two]) => (one < two ? -1 : 1))
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toText(member)}`).join(',')}}`
  }
  // -0 is 0; what JSON cannot write, such as a number beyond its range, is equal to itself only.
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}
