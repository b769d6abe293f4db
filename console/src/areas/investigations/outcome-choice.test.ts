/** Outcomes with what is missing for them. */
import { expect, test } from 'vitest'
import { listMissingSteps, toOutcomes } from './outcome-choice.ts'

const toStep = (step_key: string, state: 'succeeded' | 'waiting' | 'waived' | 'skipped') => ({
  step_key,
  title: `Title of ${step_key}`,
  state,
  problem: null,
})
const outcomes = toOutcomes({ outcomes: ['INV_CLEAR', { code: 'INV_EXIT', needs: ['exit-plan', 'screen'] }] })
const both = ['INV_CLEAR', 'INV_EXIT']

test('an outcome is not ready until the steps that it needs are done', () => {
  const steps = [toStep('screen', 'succeeded'), toStep('exit-plan', 'waiting')]
  const missing = listMissingSteps(outcomes, both, steps)
  expect(missing.get('INV_CLEAR')).toEqual([])
  expect(missing.get('INV_EXIT')).toEqual(['Title of exit-plan'])
})

test('what was given up is missing as long as another outcome does without it', () => {
  const steps = [toStep('screen', 'skipped'), toStep('exit-plan', 'waived')]
  expect(listMissingSteps(outcomes, both, steps).get('INV_EXIT')).toEqual(['Title of exit-plan', 'Title of screen'])
  expect(listMissingSteps(outcomes, ['INV_EXIT'], steps).get('INV_EXIT')).toEqual([])
})

test('a playbook that cannot be read leaves every outcome to the service', () => {
  expect(listMissingSteps(toOutcomes(undefined), both, []).get('INV_EXIT')).toBeUndefined()
})
