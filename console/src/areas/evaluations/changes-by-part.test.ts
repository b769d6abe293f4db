/** Differences of two documents are read part by part: causes first, consequences after. */
import { expect, test } from 'vitest'
import { changesByPart } from './changes-by-part.ts'

test('each change stands in its part, and parts without one are left out', () => {
  const changes = ['/explanation/summary/0', '/inputs/age', '/lists/0/version', '/version', '/inputs/name'].map(
    (pointer) => ({ pointer }),
  )
  expect(
    changesByPart(changes).map(({ title, changes: own }) => [title, ...own.map(({ pointer }) => pointer)]),
  ).toEqual([
    ['Inputs', '/age', '/name'],
    ['What it stood on', '/lists/0/version', '/version'],
    ['Reasons', '/summary/0'],
  ])
})
