import { describe, expect, test, vi } from 'vitest'
import { isUuid, SYSTEM_TENANT, uuidv7, uuidv7At } from './uuid.ts'

const start_ms = Date.UTC(2030, 0, 1)

/** A module of its own has a clock and counter of its own. */
async function fresh(): Promise<typeof import('./uuid.ts')> {
  vi.resetModules()
  return import('./uuid.ts')
}

describe('uuidv7', () => {
  test('has the time, version and variant where RFC 9562 puts them', async () => {
    const { uuidv7: next } = await fresh()
    // The time of the example in RFC 9562, appendix A.6.
    const id = next(0x017f22e279b0)
    expect(id).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(isUuid(id)).toBe(true)
    expect((await fresh()).uuidv7(0)).toMatch(/^00000000-0000-7/)
    expect((await fresh()).uuidv7(2 ** 48 - 1)).toMatch(/^ffffffff-ffff-7/)
  })

  test('rises strictly over 100,000 within one millisecond', async () => {
    const { uuidv7: next } = await fresh()
    let previous = ''
    for (let count = 0; count < 100_000; count++) {
      const id = next(start_ms)
      if (id <= previous) expect.fail(`${id} after ${previous}`)
      previous = id
    }
    expect(previous.replaceAll('-', '').slice(0, 12)).toBe(start_ms.toString(16).padStart(12, '0'))
  })

  test('increases while the clock does not move, advances and is set back', async () => {
    const { uuidv7: next } = await fresh()
    const times = [0, 0, 1, -5, 1, 1.5, 3, 2, 1000, 999]
    const ids = times.map((offset) => next(start_ms + offset))
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(times.length)
  })

  test('has random ends that differ between equal times', async () => {
    const ends = new Set<string>()
    for (let count = 0; count < 50; count++) ends.add((await fresh()).uuidv7(start_ms).slice(-10))
    expect(ends.size).toBe(50)
  })

  test('uses every random and counter bit', async () => {
    const { uuidv7: next } = await fresh()
    let ever = 0n
    let always = (1n << 128n) - 1n
    for (let count = 0; count < 2000; count++) {
      const bits = BigInt(`0x${next(start_ms + count).replaceAll('-', '')}`)
      ever |= bits
      always &= bits
    }
    const free = (ever & ~always & ((1n << 76n) - 1n)).toString(2)
    // The four version bits are fixed above; the counter's first bit is kept free for counting; then the variant.
    expect(free).toBe(`${'1'.repeat(11)}00${'1'.repeat(62)}`)
  })

  test('uses the present time by default', async () => {
    // One that has seen no other time: whoever ran before in this process may have set the clock.
    const next = (await fresh()).uuidv7
    const before = Date.now()
    const time = Number.parseInt(next().replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now())
  })

  test.each([-1, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])('refuses the time %d', (time) => {
    expect(() => uuidv7(time)).toThrow(RangeError)
  })
})

describe('uuidv7At', () => {
  const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

  test('has exactly the given time, whatever the clock does, and is unique', async () => {
    const { uuidv7: next, uuidv7At: at } = await fresh()
    next(start_ms + 86_400_000)
    const times = [0, 0, 1, -7_200_000, -7_200_000, 1, 0, 3].map((offset) => start_ms + offset)
    const ids = times.map((time) => at(time))
    expect(ids.map(timeOf)).toEqual(times)
    expect(new Set(ids).size).toBe(times.length)
    for (const id of ids) expect(isUuid(id)).toBe(true)
  })

  test('increases while the clock does not move and after it advances', async () => {
    const { uuidv7At: at } = await fresh()
    const ids = Array.from({ length: 10_000 }, (_, n) => at(start_ms + Math.floor(n / 1000)))
    expect(ids).toEqual(ids.toSorted())
  })

  test.each([-1, 2 ** 48, Number.NaN])('refuses the time %d', (time) => {
    expect(() => uuidv7At(time)).toThrow(RangeError)
  })
})

test('only the lower-case canonical form is a UUID', () => {
  expect(isUuid(SYSTEM_TENANT)).toBe(true)
  expect(isUuid('01890a5d-ac96-774b-bcce-b302099a8057')).toBe(true)
  for (const text of [
    '',
    '01890A5D-AC96-774B-BCCE-B302099A8057',
    '{01890a5d-ac96-774b-bcce-b302099a8057}',
    '01890a5dac96774bbcceb302099a8057',
    '01890a5d-ac96-774b-bcce-b302099a8057\n',
    '01890a5d-ac96-774b-bcce-b302099a805g',
  ]) {
    expect(isUuid(text)).toBe(false)
  }
})
