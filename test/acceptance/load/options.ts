/** The command line of a run: whole numbers with defaults, and a seed that is printed so that a run can be repeated. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

export function parseCounts<const D extends Readonly<Record<string, number>>>(
  defaults: D,
): Record<keyof D | 'seed', number> {
  const known: Record<string, number> = { ...defaults, seed: randomInt(2 ** 31) }
  const options = Object.fromEntries(Object.keys(known).map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ options })
  for (const [name, text] of Object.entries(values)) {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < 0) {
      console.error(`--${name} must be a whole number.`)
      process.exit(2)
    }
    known[name] = value
  }
  console.error(`seed ${known['seed']}`)
  return known as Record<keyof D | 'seed', number>
}
