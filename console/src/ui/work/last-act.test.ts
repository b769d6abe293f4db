/** The last act on a case. */
import { expect, test } from 'vitest'
import { findLastAct } from './last-act.ts'

const toEntries = (...kinds: string[]) => kinds.map((kind) => ({ kind }))

test('a return counts until the outcome is proposed again', () => {
  expect(findLastAct(toEntries('noted', 'assigned', 'returned', 'proposed'))?.kind).toBe('returned')
  expect(findLastAct(toEntries('proposed', 'returned', 'proposed'))?.kind).toBe('proposed')
  expect(findLastAct(toEntries('noted', 'assigned'))).toBeUndefined()
})
