import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyPatch, createPatch, isEqualJson, listFieldChanges, PatchFault } from './json-patch.ts'
import { isObject, parsePointer, valueAt } from './json-pointer.ts'

fc.configureGlobal({ seed: 6902 })

/** JSON does not distinguish `-0` from `0`. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const hostile = fc.dictionary(fc.constantFrom('a', 'b', '~', '/', '', '0', '__proto__', 'constructor'), json)

describe('diff and apply', () => {
  test('applying the difference gives the other document', () => {
    for (const arbitrary of [json, hostile, fc.array(fc.nat(4)), fc.array(hostile, { maxLength: 4 })]) {
      fc.assert(
        fc.property(arbitrary, arbitrary, (before, after) => {
          const kept = JSON.stringify(before)
          expect(isEqualJson(applyPatch(before, createPatch(before, after)), after)).toBe(true)
          expect(JSON.stringify(before)).toBe(kept)
        }),
      )
    }
  })

  test('finds no difference between equal documents, whatever the order of members', () => {
    expect(createPatch({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 })).toEqual([])
  })

  test('keeps equal ends of an array', () => {
    expect(createPatch({ a: [1, 2, 3, 4] }, { a: [1, 2, 9, 3, 4] })).toEqual([{ op: 'add', path: '/a/2', value: 9 }])
    expect(createPatch([1, 2, 3], [1, 3])).toEqual([{ op: 'remove', path: '/1' }])
  })

  test('treats a member called __proto__ as data', () => {
    const patched = applyPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }])
    expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}')
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype)
    expect(() => applyPatch({}, [{ op: 'add', path: '/__proto__/polluted', value: 1 }])).toThrow(PatchFault)
    expect(() => applyPatch({}, [{ op: 'test', path: '/constructor', value: null }])).toThrow(PatchFault)
  })

  test.each([
    ['no array', {}, 'patch_malformed'],
    ['no operation', [1], 'patch_malformed'],
    ['an unknown operation', [{ op: 'spam', path: '' }], 'patch_malformed'],
    ['no path', [{ op: 'remove' }], 'patch_malformed'],
    ['a bad escape', [{ op: 'remove', path: '/~2' }], 'patch_malformed'],
    ['no value', [{ op: 'add', path: '/x' }], 'patch_malformed'],
    ['a leading zero', [{ op: 'remove', path: '/list/01' }], 'patch_conflict'],
    ['an index behind the end', [{ op: 'add', path: '/list/3', value: 1 }], 'patch_conflict'],
    ['a move into itself', [{ op: 'move', from: '/rows/0', path: '/rows/0/x' }], 'patch_conflict'],
    ['removing the document', [{ op: 'remove', path: '' }], 'patch_conflict'],
    ['a failed test', [{ op: 'test', path: '/list', value: [2, 1] }], 'patch_test_failed'],
  ])('refuses %s', (_, patch, code) => {
    expect(() => applyPatch({ list: [1, 2], rows: [{}, {}] }, patch)).toThrow(expect.objectContaining({ code }))
  })
})

interface Case {
  readonly comment?: string
  readonly doc: unknown
  readonly patch: unknown
  readonly expected?: unknown
  readonly error?: string
  readonly disabled?: boolean
}
const vectors = path.resolve(import.meta.dirname, '../../../../shared/data/conformance/json-patch/spec_tests.json')
const cases: Case[] = existsSync(vectors) ? JSON.parse(readFileSync(vectors, 'utf8')) : []
const enabled = cases.filter(({ disabled }) => !disabled)

test(`the public vectors: ${enabled.length} cases, ${cases.length === 0 ? 'skipped, not on this machine' : 'all hold'}`, () => {
  for (const { comment, doc, patch, expected, error } of enabled) {
    if (error === undefined) expect(applyPatch(doc, patch), comment).toEqual(expected)
    else expect(() => applyPatch(doc, patch), comment).toThrow(PatchFault)
  }
})

describe('changesOf', () => {
  test('names fields of nested objects', () => {
    const before = { name: 'A', risk: { score: 10, why: 'x' }, gone: null, tags: ['a', 'b'] }
    const after = { name: 'A', risk: { score: 20, why: 'x' }, tags: ['b'], 'new/er': 1 }
    expect(listFieldChanges(before, after)).toEqual([
      { pointer: '/gone', before: null },
      { pointer: '/new~1er', after: 1 },
      { pointer: '/risk/score', before: 10, after: 20 },
      { pointer: '/tags', before: ['a', 'b'], after: ['b'] },
    ])
  })

  test('compares arrays of objects by position when their lengths are equal, otherwise as a whole', () => {
    expect(listFieldChanges({ rows: [{ a: 1 }, { a: 2 }] }, { rows: [{ a: 1 }, { a: 3 }] })).toEqual([
      { pointer: '/rows/1/a', before: 2, after: 3 },
    ])
    expect(listFieldChanges([{ a: 1 }], [])).toEqual([{ pointer: '', before: [{ a: 1 }], after: [] }])
  })

  test('gives both values of each change, and no change for equal documents', () => {
    fc.assert(
      fc.property(hostile, hostile, (before, after) => {
        const changes = listFieldChanges(before, after)
        expect(changes.length === 0).toBe(isEqualJson(before, after))
        for (const change of changes) {
          const steps = parsePointer(change.pointer)
          expect(change.before).toEqual(valueAt(before, steps))
          expect(change.after).toEqual(valueAt(after, steps))
          expect(isObject(change.before) && isObject(change.after)).toBe(false)
        }
      }),
    )
  })
})
