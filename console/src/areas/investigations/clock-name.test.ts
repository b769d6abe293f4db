/** Names of clocks. */
import { expect, test } from 'vitest'
import { formatClockName } from './clock-name.ts'

test('a clock of a case that was opened again is called as before', () => {
  const clocks = [{ clock_key: 'first-action' }, { clock_key: 'first-action-2' }, { clock_key: 'phase-2' }]
  expect(formatClockName('first-action-2', clocks)).toBe('First action')
  expect(formatClockName('phase-2', clocks)).toBe('Phase 2')
})
