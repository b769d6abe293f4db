/** What a merged case leaves undone. */
import { expect, test } from 'vitest'
import { listEndingWork } from './ending-work.ts'

test('names open steps and tasks once, and nothing that was done', () => {
  const toStep = (step_key: string, state: 'pending' | 'waiting' | 'succeeded', task_id: string | null = null) => ({
    step_key,
    title: null,
    state,
    task_id,
    is_required: true,
  })
  const steps = [toStep('screen', 'succeeded'), toStep('media', 'pending'), toStep('funds', 'waiting', 't1')]
  const tasks = [
    { task_id: 't1', title: 'Establish the source of funds', state: 'open', is_required: true },
    { task_id: 't2', title: 'Call the branch', state: 'open', is_required: false },
    { task_id: 't3', title: 'Read the file', state: 'done', is_required: true },
  ] as const
  expect(listEndingWork(steps, tasks)).toEqual([
    { key: 'media', title: 'media', is_required: true },
    { key: 't1', title: 'Establish the source of funds', is_required: true },
    { key: 't2', title: 'Call the branch', is_required: false },
  ])
})
