/** The playbook of an alert. */
import { expect, test } from 'vitest'
import { findTriggerPlaybook } from './trigger-playbook.ts'

test('the most specific entry names the playbook', () => {
  const triggers = [
    { entry: { alert_rule: '*', subject_type: 'person', playbook: 'edd-person' } },
    { entry: { alert_rule: 'judge-match', subject_type: '*', playbook: 'sanctions-match' } },
  ]
  const find = (rule_code: string | null, subject_type: string) =>
    findTriggerPlaybook(triggers, { rule_code, subject_type })
  expect(find('judge-match', 'person')).toBe('sanctions-match')
  expect(find('cash', 'person')).toBe('edd-person')
  expect(find(null, 'person')).toBe('edd-person')
  expect(find('cash', 'company')).toBeNull()
})
