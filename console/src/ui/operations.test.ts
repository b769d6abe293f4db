/** What the console asks permission for must exist: a renamed operation would silently hide what stands behind it. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const types = fs.readFileSync(path.resolve(root, '../../client/types.ts'), 'utf8')
const known = new Set([...types.matchAll(/operations\["(\w+)"\]/g)].map(([, id]) => id))

test('every operation that is asked about is one of the API', () => {
  const asked = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file))
    .flatMap((file) => {
      const text = fs.readFileSync(path.join(root, file), 'utf8')
      // Pages that matrices and rules share name the verb and what follows the noun.
      const shared = [...text.matchAll(/\boperation\(kind, '(\w+)'(?:, '(\w+)')?\)/g)].flatMap(([, verb, rest = '']) =>
        ['RiskMatrix', 'Rule'].map((noun) => `${verb}${noun}${rest}`),
      )
      const single = text.replaceAll(/\boperation\([^)]*\)/g, '')
      const calls = [...single.matchAll(/\bmay\(([^)]+)\)/g)].flatMap(([, inner = '']) => [
        ...inner.matchAll(/'(\w+)'/g),
      ])
      const needs = [...single.matchAll(/\bneeds: '(\w+)'/g)]
      return [...[...calls, ...needs].map(([, id]) => id), ...shared].map((id) => ({ file, id }))
    })
  expect(asked.length).toBeGreaterThan(40)
  expect(asked.filter(({ id }) => !known.has(id))).toEqual([])
})
