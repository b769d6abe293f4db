import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CURSOR_TTL_MS, type CursorBinding, createCursorCodec } from './cursor.ts'
import { Problem } from './problem.ts'

fc.configureGlobal({ seed: 2104 })

const key = Buffer.alloc(32, 7)
const start_ms = Date.UTC(2030, 0, 1)
const codec = createCursorCodec(key, () => start_ms)
const bound: CursorBinding = {
  tenant_id: '01890000-0000-7000-8000-000000000001',
  route: 'GET /things',
  binding: { sort: '-name', state: ['open', 'new'] },
}
const position = ['Ünï', 42, -0.5]
const cursor = codec.encode({ ...bound, position })

function expectUnknown(act: () => unknown): void {
  let caught: unknown
  try {
    act()
  } catch (error) {
    caught = error
  }
  expect(caught).toBeInstanceOf(Problem)
  expect(caught).toMatchObject({ code: 'cursor_not_found', extra: {} })
}

describe('a cursor', () => {
  test('gives back any position', () => {
    const positions = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true })),
    )
    fc.assert(
      fc.property(positions, fc.jsonValue(), (any, binding) => {
        const here = { ...bound, binding }
        const expected = any.map((step) => (step === 0 ? 0 : step))
        expect(codec.decode(codec.encode({ ...here, position: any }), here)).toEqual(expected)
      }),
    )
  })

  test('is opaque base64url that does not contain what it is bound to', () => {
    expect(cursor).toMatch(/^[\w-]+$/)
    const inside = Buffer.from(cursor, 'base64url').toString('latin1')
    for (const secret of [bound.tenant_id, 'things', 'state', 'open']) expect(inside).not.toContain(secret)
  })

  test('does not depend on the order in which filters were written', () => {
    const binding = { state: ['open', 'new'], sort: '-name' }
    expect(codec.decode(cursor, { ...bound, binding })).toEqual(position)
  })

  test.each([
    ['tenant', { tenant_id: '01890000-0000-7000-8000-000000000002' }],
    ['route', { route: 'GET /other-things' }],
    ['sort', { binding: { sort: 'name', state: ['open', 'new'] } }],
    ['filter', { binding: { sort: '-name', state: ['open'] } }],
    ['filter added', { binding: { sort: '-name', state: ['open', 'new'], kind: 'x' } }],
    ['boundary between tenant and route', { tenant_id: `${bound.tenant_id}GET`, route: ' /things' }],
  ])('is unknown under another %s', (_, change) => {
    expectUnknown(() => codec.decode(cursor, { ...bound, ...change }))
  })

  test('is unknown under another key', () => {
    expectUnknown(() => createCursorCodec(Buffer.alloc(32, 8), () => start_ms).decode(cursor, bound))
  })

  test('expires after a day', () => {
    const at = (elapsed_ms: number) => createCursorCodec(key, () => start_ms + elapsed_ms).decode(cursor, bound)
    expect(at(CURSOR_TTL_MS - 1)).toEqual(position)
    expectUnknown(() => at(CURSOR_TTL_MS))
  })

  test('is unknown after any single bit was flipped, and when cut short or extended', () => {
    for (let bit = 0; bit < cursor.length * 8; bit++) {
      const flipped = Buffer.from(cursor, 'latin1')
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      expectUnknown(() => codec.decode(flipped.toString('latin1'), bound))
    }
    for (let end = 0; end < cursor.length; end++) expectUnknown(() => codec.decode(cursor.slice(0, end), bound))
    for (const tail of ['A', '=', ' ', '\n', '!']) expectUnknown(() => codec.decode(cursor + tail, bound))
  })

  test('is unknown when it is garbage', () => {
    const garbage = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.uint8Array({ minLength: 33 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    )
    fc.assert(fc.property(garbage, (text) => expectUnknown(() => codec.decode(text, bound))))
  })
})
