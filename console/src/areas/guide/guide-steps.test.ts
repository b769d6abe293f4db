import { expect, test } from 'vitest'
import {
  canDoStep,
  chooseStep,
  deriveSteps,
  findDemoActors,
  findStepRoles,
  findThresholdRun,
  isOffered,
  type Step,
  type TenantFacts,
} from './guide-steps.ts'
import { getThresholdRange, moveThreshold, sampleBands, toSampleCsv } from './sample-list.ts'

const empty: TenantFacts = {
  own_lists: [],
  has_decision: false,
  measured_versions: [],
  threshold_run: null,
  requested_lists: [],
  has_replayed: false,
}
const imported = { list_key: 'risk-bands', head_version: 1, is_in_force: false }
const states = (facts: Partial<TenantFacts>) => deriveSteps({ ...empty, ...facts }).map(({ state }) => state)
const everything = () => true

test.each<[string, Partial<TenantFacts>, readonly string[]]>([
  ['an empty tenant', {}, ['ready', 'blocked', 'ready', 'blocked', 'blocked']],
  [
    'a list without a version',
    { own_lists: [{ ...imported, head_version: 0 }] },
    ['ready', 'blocked', 'ready', 'blocked', 'blocked'],
  ],
  ['an imported list', { own_lists: [imported] }, ['done', 'ready', 'ready', 'blocked', 'blocked']],
  [
    'a requested activation',
    { own_lists: [imported], requested_lists: ['risk-bands'] },
    ['done', 'waiting', 'ready', 'blocked', 'blocked'],
  ],
  [
    'a rated customer',
    { own_lists: [{ ...imported, is_in_force: true }], has_decision: true },
    ['done', 'done', 'done', 'ready', 'ready'],
  ],
  [
    'an impact analysis of the bands that were brought in',
    { own_lists: [{ ...imported, is_in_force: true }], has_decision: true, measured_versions: [1] },
    ['done', 'done', 'done', 'ready', 'ready'],
  ],
  [
    'an impact analysis of changed bands',
    { own_lists: [{ ...imported, head_version: 2, is_in_force: true }], has_decision: true, measured_versions: [2, 1] },
    ['done', 'done', 'done', 'done', 'ready'],
  ],
  [
    'a first version of the bands beside another list',
    {
      own_lists: [{ list_key: 'a', head_version: 1, is_in_force: true }, imported],
      has_decision: true,
      measured_versions: [1],
    },
    ['done', 'done', 'done', 'done', 'ready'],
  ],
  [
    'a user who may not read impact runs',
    {
      own_lists: [{ ...imported, head_version: 2, is_in_force: true }],
      has_decision: true,
      measured_versions: null,
    },
    ['done', 'done', 'done', 'done', 'ready'],
  ],
  [
    'another list with two versions, for a user who may not read impact runs',
    {
      own_lists: [{ list_key: 'a', head_version: 2, is_in_force: true }],
      has_decision: true,
      measured_versions: null,
    },
    ['done', 'done', 'done', 'ready', 'ready'],
  ],
])('derives the state of each step from %s', (_name, facts, expected) => {
  expect(states(facts)).toEqual(expected)
})

test('opens the first step that the user may do, and passes over those of others', () => {
  const steps = deriveSteps({ ...empty, own_lists: [imported] })
  expect(chooseStep(steps, everything)?.name).toBe('activate')
  expect(chooseStep(steps, ({ name }) => name === 'rate')?.name).toBe('rate')
  expect(chooseStep(steps, () => false)?.name).toBe('activate')
})

test('is offered until somebody is rated, and then to whoever began it', () => {
  const rated = { ...empty, has_decision: true }
  expect(isOffered(empty, deriveSteps(empty), false)).toBe(true)
  expect(isOffered(rated, deriveSteps(rated), false)).toBe(false)
  expect(isOffered(rated, deriveSteps(rated), true)).toBe(true)
  const unknown = { ...empty, has_decision: null }
  expect(isOffered(unknown, deriveSteps(unknown), false)).toBe(true)
  expect(isOffered({ ...unknown, own_lists: [imported] }, deriveSteps(unknown), false)).toBe(false)
})

test('is not offered when every step is done', () => {
  const all = {
    ...empty,
    own_lists: [{ ...imported, is_in_force: true }],
    has_decision: true,
    measured_versions: [2],
    has_replayed: true,
  }
  expect(isOffered(all, deriveSteps(all), true)).toBe(false)
})

test('names the roles that may do a step', () => {
  const [first, second] = deriveSteps(empty) as [Step, Step]
  const roles = [
    { role: 'policy_editor', operations: ['createDataset', 'startImport', 'submitDatasetVersion'] },
    { role: 'compliance_officer', operations: ['startImport', 'activateDatasetVersion'] },
    { role: 'service', operations: ['createDataset', 'startImport'] },
  ]
  expect(findStepRoles(first, roles)).toEqual(['policy_editor'])
  expect(findStepRoles(second, roles)).toEqual(['compliance_officer'])
  expect(canDoStep(second, (operation) => operation === 'submitDatasetVersion')).toBe(true)
  expect(canDoStep(first, (operation) => operation === 'startImport')).toBe(false)
})

test('asks for somebody who may make a list only where the tenant has no bands of its own', () => {
  const officer = (operation: string) => operation !== 'createDataset'
  const threshold = (facts: Partial<TenantFacts>) => deriveSteps({ ...empty, ...facts })[3] as Step
  expect(canDoStep(threshold({}), officer)).toBe(false)
  expect(canDoStep(threshold({ own_lists: [imported] }), officer)).toBe(true)
})

test('finds the newest impact run of a changed threshold, also while it runs', () => {
  const run = { run_id: 'a', version: 2, state: 'succeeded', origin: 'own', cr_id: null }
  const find = (...runs: (typeof run | Record<string, unknown>)[]) =>
    findThresholdRun(
      [imported],
      runs.map((one) => ({ ...run, ...one })),
    )
  expect(find()).toBeNull()
  expect(find({ version: 1 }, { origin: 'shared' }, { cr_id: 'c' }, { state: 'failed' })).toBeNull()
  expect(find({ state: 'failed' }, run)).toEqual({ run_id: 'a', isOngoing: false })
  expect(find({ run_id: 'b', state: 'running' }, run)).toEqual({ run_id: 'b', isOngoing: true })
  expect(findThresholdRun([], [run])).toBeNull()
})

test('moves a threshold together with the end of the band below', () => {
  const moved = moveThreshold(sampleBands, 'medium', 2000)
  expect(moved.map(({ from_bps, to_bps }) => [from_bps, to_bps])).toEqual([
    [0, 1999],
    [2000, 5499],
    [5500, 8999],
    [9000, 10000],
  ])
  expect(getThresholdRange(sampleBands, 'medium')).toEqual({ min: 1, max: 5499 })
  expect(getThresholdRange(sampleBands, 'low')).toBeNull()
})

test('writes the sample with the field names of its type', () => {
  const lines = toSampleCsv().split('\r\n')
  expect(lines[0]).toBe('band,title,from_bps,to_bps,review_every_months,due_diligence')
  expect(lines[2]).toBe('medium,Medium,3000,5499,18,standard')
  expect(lines).toHaveLength(6)
})

test('finds the demo people of this tenant with a role, without the user', () => {
  const anton = { user_id: 'a', name: 'Anton Analyst', roles: ['analyst'] }
  const clara = { user_id: 'c', name: 'Clara Compliance', roles: ['compliance_officer'] }
  const tenants = [
    { tenant_id: 'one', people: [anton, clara] },
    { tenant_id: 'two', people: [{ ...anton, user_id: 'b' }] },
  ]
  const roles = ['analyst', 'compliance_officer']
  const me = { tenant_id: 'one', principal: 'user:v' }
  expect(findDemoActors(tenants, me, ['analyst'])).toEqual([anton])
  expect(findDemoActors(tenants, { ...me, principal: 'user:c' }, roles)).toEqual([anton])
  expect(findDemoActors(tenants, { ...me, tenant_id: 'three' }, roles)).toEqual([])
})
