/** The page of an object in the audit record. */
import { expect, test } from 'vitest'
import { findObjectTarget, formatObjectType } from './object-target.ts'

const tenant_id = '00000000-0000-7000-8000-0000000d2000'
const id = '01a1e861-649a-7536-aa76-8382125143c4'

const find = (object_type: string, object_id: string, operation = 'updateThing', cr_id: string | null = null) =>
  findObjectTarget({ object_type, object_id, operation, cr_id }, tenant_id)?.to ?? null

test('finds the page of a contract by its key, and of a payload in quarantine by its id', () => {
  expect(find('source-contracts', 'company-registry')).toBe('/source-contracts/company-registry')
  expect(find('source-contracts', id)).toBe(`/source-contracts/quarantine/${id}`)
  expect(find('rules', 'company-abroad')).toBe('/rules/company-abroad')
})

test('finds the page of what an id names, by the operation where a type has several kinds', () => {
  expect(find('change-requests', id, 'approveChangeRequest')).toBe(`/change-requests/${id}`)
  expect(find('evaluations', id, 'createEvaluation')).toBe(`/evaluations/${id}`)
  expect(find('subjects', id, 'updateSubject')).toBe(`/subjects/${id}`)
  expect(find('subjects', id, 'startSubjectBulk')).toBe(`/subjects/upload/${id}`)
  expect(find('alerts', id, 'dismissAlert')).toBe(`/inbox/alerts/${id}`)
  expect(find('alerts', id, 'endAlertSuppression')).toBe('/inbox/suppressions')
  expect(find('reference-data', id, 'startImport')).toBe(`/imports/${id}`)
  expect(find('reference-data', 'countries', 'activateDatasetVersion')).toBe('/datasets/countries')
  expect(find('reference-data', 'country', 'createDatasetTypeVersion')).toBe('/types/country')
  expect(find('batch-evaluations', id, 'startBatchSchedule')).toBe('/batches/schedules')
  expect(find('mcp', 'register', 'pinServerTool')).toBe('/tools/servers/register')
})

test('finds the change request of what was only proposed', () => {
  expect(find('users', id, 'createUser', id)).toBe(`/change-requests/${id}`)
  expect(find('users', id, 'updateUserRoles', tenant_id)).toBe(`/users/${id}`)
})

test('finds no page for what concerns the tenant as a whole, or has none', () => {
  expect(find('source-contracts', tenant_id)).toBeNull()
  expect(find('api-keys', id)).toBeNull()
  expect(find('reference-data', id, 'startExport')).toBeNull()
})

test('says what a type is called', () => {
  expect(['mcp', 'auth', 'users'].map(formatObjectType)).toEqual(['MCP', 'Sign-in', 'Users'])
})
