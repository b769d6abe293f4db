/** What is missing for an act, as people call it. */
import { expect, test } from 'vitest'
import { simplifyMissing } from './missing.ts'

const step = { step_key: 'funds', title: 'Source of funds', state: 'waiting', task_id: 't1' } as const
const ofStep = { code: 'step_open', pointer: '#/steps/funds', detail: 'The required step funds is waiting.' }
const ofTask = { code: 'task_open', pointer: '#/tasks/t1', detail: 'The required task "Funds" is open.' }
const ofNarrative = { code: 'narrative_missing', pointer: '#/narrative', detail: 'The investigation has no narrative.' }

test('a step is called by its title', () => {
  const [first, second] = simplifyMissing([ofStep, ofNarrative], [step])
  expect(first?.detail).toBe('Source of funds: waiting.')
  expect(second).toEqual(ofNarrative)
})

test('a step that waits for a task is not named beside the task', () => {
  expect(simplifyMissing([ofStep, ofTask], [step])).toEqual([ofTask])
})

test('what a person can do now comes before the narrative and before steps that have not begun', () => {
  const later = { step_key: 'risk', title: 'Risk rating', state: 'pending', task_id: null } as const
  const ofLater = { code: 'step_open', pointer: '#/steps/risk', detail: 'The required step risk is pending.' }
  const ofRequest = { code: 'information_open', pointer: '#/information_requests', detail: 'A request is open.' }
  const ordered = simplifyMissing([ofLater, ofStep, ofNarrative, ofTask, ofRequest], [step, later])
  expect(ordered.map(({ pointer }) => pointer)).toEqual([
    '#/tasks/t1',
    '#/information_requests',
    '#/narrative',
    '#/steps/risk',
  ])
})
