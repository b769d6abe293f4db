/** The last act on a case. */
import { expect, test } from 'vitest'
import { findEarlierWorker, findLastAct } from './last-act.ts'

const toEntries = (...kinds: string[]) => kinds.map((kind) => ({ kind }))

test('a return counts until the outcome is proposed again', () => {
  expect(findLastAct(toEntries('noted', 'assigned', 'returned', 'proposed'))?.kind).toBe('returned')
  expect(findLastAct(toEntries('proposed', 'returned', 'proposed'))?.kind).toBe('proposed')
  expect(findLastAct(toEntries('noted', 'assigned'))).toBeUndefined()
})

test('who worked on a case is known after it was opened again', () => {
  const toEntry = (kind: string, recorded_by: string, assignee?: string) => ({ kind, recorded_by, data: { assignee } })
  const closing = [toEntry('reopened', 'user:c'), toEntry('closed', 'user:c'), toEntry('proposed', 'user:b')]
  const assigned = toEntry('assigned', 'user:c', 'user:a')
  expect(findEarlierWorker([...closing, assigned])).toBe('user:b')
  expect(findEarlierWorker([toEntry('reopened', 'user:c'), toEntry('closed', 'user:c'), assigned])).toBe('user:a')
  expect(findEarlierWorker([toEntry('reopened', 'user:c')])).toBeNull()
})
