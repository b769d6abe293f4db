/** The page of an object in the audit record. */
import { expect, test } from 'vitest'
import { findObjectTarget } from './object-target.ts'

const tenant_id = '00000000-0000-7000-8000-0000000d2000'
const payload_id = '01a1e861-649a-7536-aa76-8382125143c4'

test('finds the page of a contract by its key, and of a payload in quarantine by its id', () => {
  const find = (type: string, id: string) => findObjectTarget(type, id, tenant_id)?.to ?? null
  expect(find('source-contracts', 'company-registry')).toBe('/source-contracts/company-registry')
  expect(find('source-contracts', payload_id)).toBe(`/source-contracts/quarantine/${payload_id}`)
  expect(find('rules', 'company-abroad')).toBe('/rules/company-abroad')
})

test('finds no page for what concerns the tenant as a whole, or has none', () => {
  expect(findObjectTarget('source-contracts', tenant_id, tenant_id)).toBeNull()
  expect(findObjectTarget('api-keys', payload_id, tenant_id)).toBeNull()
})
