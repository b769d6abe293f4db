/** The numbers of the heat map can be read on every tint, light and dark. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const css = fs.readFileSync(path.join(import.meta.dirname, 'decision.css'), 'utf8')
const source = fs.readFileSync(path.join(import.meta.dirname, 'heat-map.tsx'), 'utf8')

type Colour = readonly [number, number, number]

const parseColour = (hex: string): Colour => {
  const digits = hex.length === 4 ? hex.replaceAll(/[0-9a-f]/gi, '$&$&') : hex
  const read = (place: number) => Number.parseInt(digits.slice(place, place + 2), 16)
  return [read(1), read(3), read(5)]
}

/** Of WCAG 2. */
function getLuminance(colour: Colour): number {
  const [red, green, blue] = colour.map((byte) => {
    const share = byte / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function getContrast(one: Colour, other: Colour): number {
  const [lighter, darker] = [getLuminance(one), getLuminance(other)].toSorted((a, b) => b - a) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

function mix(tint: Colour, ground: Colour, percent: number): Colour {
  const mixByte = (one: number, other: number) => (one * percent + other * (100 - percent)) / 100
  return [mixByte(tint[0], ground[0]), mixByte(tint[1], ground[1]), mixByte(tint[2], ground[2])]
}

/** What Mantine draws behind a table: the page and a card. */
const grounds = { light: ['#fff', '#f8f9fa'], dark: ['#242424', '#2e2e2e'] } as const

describe.each(['light', 'dark'] as const)('the heat map in the %s scheme', (scheme) => {
  const [, block = ''] = new RegExp(`color-scheme="${scheme}"\\] \\{([^}]*)\\}`).exec(css) ?? []
  const readColour = (name: string): Colour => {
    const [, value] = new RegExp(`${name}: (#[0-9a-f]+);`).exec(block) ?? []
    if (value === undefined) throw new Error(`${name} has no value in the ${scheme} scheme`)
    return parseColour(value)
  }

  test('has enough contrast between each number and its cell', () => {
    const [, line = ''] = /const tints = \{(.*)\}/.exec(source) ?? []
    const tints = [...line.matchAll(/var\((--[a-z0-9-]+)\)/g)].map(([, name = '']) => name)
    expect(tints).toHaveLength(3)
    const [, least, range] = /Math\.round\((\d+) \+ \((\d+) \* count\)/.exec(source) ?? []
    const text = readColour('--heat-text')
    for (const tint of tints)
      for (const percent of [Number(least), Number(least) + Number(range)])
        for (const ground of grounds[scheme]) {
          const contrast = getContrast(text, mix(readColour(tint), parseColour(ground), percent))
          expect(contrast, `${tint} at ${percent} % on ${ground}`).toBeGreaterThanOrEqual(4.5)
        }
  })
})
