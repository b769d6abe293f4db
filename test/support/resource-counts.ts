/**
 * Counts what a test run creates: databases and browsers. Every worker process appends a line per resource to one file, which
 * the global set-up empties; scripts/test.mjs compares the sums with test/budget.json.
 */
import fs from 'node:fs'
import path from 'node:path'

const file = path.resolve(import.meta.dirname, '../../.build/test-resources.txt')

export type Resource = 'database' | 'browser'

export function countResource(resource: Resource): void {
  fs.appendFileSync(file, `${resource}\n`)
}

export default function resetResourceCounts(): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, '')
}
