/** The act that brings a case forward. */
import { expect, test } from 'vitest'
import { chooseMainAct } from './main-act.ts'

type ActedCase = Parameters<typeof chooseMainAct>[0]
type Act = ActedCase['next_actions'][number]

const permitted = (action: Act['action']): Act => ({ action, is_permitted: true, missing: [] })
const refused = (action: Act['action'], code: string): Act => ({
  action,
  is_permitted: false,
  missing: [{ code, detail: 'Not now.', pointer: '#/state' }],
})
const open = { main_action: 'propose_outcome', assignee: 'user:a' } as const

test('a case that waits is resumed, and one that nobody works on is taken', () => {
  const waiting = [refused('propose_outcome', 'waiting'), permitted('resume'), permitted('assign')]
  expect(chooseMainAct({ ...open, next_actions: waiting })).toBe('resume')
  const untaken = [refused('propose_outcome', 'task_open'), refused('resume', 'not_waiting'), permitted('assign')]
  expect(chooseMainAct({ ...open, assignee: null, next_actions: untaken })).toBe('assign')
  expect(chooseMainAct({ ...open, next_actions: untaken })).toBe('propose_outcome')
  const ready = [permitted('propose_outcome'), permitted('assign')]
  expect(chooseMainAct({ ...open, assignee: null, next_actions: ready })).toBe('propose_outcome')
})

test('whoever has not the role to close is offered nothing', () => {
  const proposed = { main_action: 'close', assignee: 'user:a' } as const
  expect(chooseMainAct({ ...proposed, next_actions: [refused('close', 'role_required')] })).toBeNull()
  expect(chooseMainAct({ ...proposed, next_actions: [refused('close', 'own_waiver')] })).toBe('close')
})
