/** Operations and jobs in the words of people. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { formatEvent, formatJobKind, formatProgress } from './event-texts.ts'
import { formatOperation } from './format.ts'

const root = path.join(import.meta.dirname, '../../..')

test('says of an event what was done', () => {
  expect(
    [
      'createDataset',
      'activateDatasetVersion',
      'rollBackRiskMatrix',
      'publishPlaybookDraft',
      'deleteRiskMatrixActivation',
      'startDatasetImpact',
      'updateUserRoles',
      'denyToolCall',
      'createApiKey',
      'createDemoSession',
      'getInvestigationPack',
      'job:investigation.gather',
    ].map(formatEvent),
  ).toEqual([
    'List created',
    'Version of a list put in force',
    'Matrix rolled back',
    'Draft of a playbook published',
    'Scheduled activation of a matrix cancelled',
    'Impact analysis of a list started',
    'User roles changed',
    'Tool call denied',
    'API key created',
    'Signed in (demo)',
    'Case pack read',
    'Gathering of evidence for a case (job)',
  ])
})

test('names every operation that changes something by what was done, without words of the program', () => {
  const endpoints = fs.readFileSync(path.join(root, 'docs/endpoints.md'), 'utf8')
  const ids = [...endpoints.matchAll(/^\| `(?:POST|PUT|PATCH|DELETE) [^`]*` \| (\w+):/gm)].map(([, id]) => id ?? '')
  expect(ids.length).toBeGreaterThan(200)
  const texts = ids.map(formatEvent)
  expect(ids.filter((id, place) => texts[place] === formatOperation(id))).toEqual([])
  expect(texts.filter((text) => /dataset|evaluation|api\b|mlro|odcs/.test(text))).toEqual([])
  // Two ways to the same.
  expect(texts.filter((text, place) => texts.indexOf(text) !== place)).toEqual(['Rating overridden'])
})

test('names a kind of job, and one that is new by its own words', () => {
  expect(['dataset-import', 'impact-run', 'slow-work', 'other.kind'].map(formatJobKind)).toEqual([
    'Import of a list',
    'Impact analysis',
    'Slow work',
    'Other kind',
  ])
})

test('says how far a job is, a share as one number', () => {
  expect(formatProgress({ done: 100, total: 100, unit: 'percent' })).toBe('100 %')
  expect(formatProgress({ done: 1200, total: 5000, unit: 'items' })).toBe('1,200 of 5,000 items')
  expect(formatProgress({ done: 7, total: null, unit: null })).toBe('7')
})
