import { expect, test } from 'vitest'
import { companyContract } from '#test/support/company-registry.ts'
import { checkContractText } from './check-contract.ts'
import { fromOdcs, toOdcs } from './odcs.ts'

const names = { id: 'company-registry', name: 'Company registry', version: '1', status: 'active' }

test('a contract that is written as ODCS 3.1 and read again is the same', () => {
  const contract = companyContract({ personal: [{ at: '/address/line' }] })
  const document = JSON.parse(JSON.stringify(toOdcs(contract, names)))
  expect(document).toMatchObject({ apiVersion: 'v3.1.0', kind: 'DataContract', id: 'company-registry' })
  expect(document.slaProperties).toEqual([{ property: 'freshness', value: 2_592_000, unit: 's' }])
  const address = document.schema[0].properties.find(({ name }: { name: string }) => name === 'address')
  expect(address).toEqual({
    name: 'address',
    required: true,
    logicalType: 'object',
    properties: [
      { name: 'line', logicalType: 'string', logicalTypeOptions: { maxLength: 256 }, classification: 'personal' },
      { name: 'country', required: true, logicalType: 'string', logicalTypeOptions: { pattern: '^[A-Z]{2}$' } },
    ],
  })
  const { contract: read, unmapped } = fromOdcs(document)
  expect(unmapped).toEqual([])
  expect(read).toEqual(contract)
})

test('reads what maps of a document of another system and lists the rest', () => {
  const { contract, unmapped } = fromOdcs({
    apiVersion: 'v3.0.2',
    kind: 'DataContract',
    id: 'x',
    version: '1.0.0',
    status: 'draft',
    servers: [{ server: 'db' }],
    schema: [
      {
        name: 'companies',
        properties: [
          { name: 'founded', logicalType: 'date', required: true, physicalType: 'date' },
          { name: 'email', logicalType: 'string', classification: 'PII', encryptedName: 'e' },
          {
            name: 'state',
            logicalType: 'string',
            quality: [{ metric: 'invalidValues', arguments: { validValues: ['a'] } }],
          },
          {
            name: 'tags',
            logicalType: 'array',
            items: { logicalType: 'string' },
            quality: [{ type: 'sql', query: '…' }],
          },
        ],
      },
      { name: 'second' },
    ],
    slaProperties: [
      { property: 'freshness', value: 2, unit: 'd' },
      { property: 'availability', value: '99 %' },
    ],
  })
  expect(contract).toEqual({
    records_at: '',
    facts: [],
    examples: [],
    record: {
      type: 'object',
      required: ['founded'],
      properties: {
        founded: { type: 'string', format: 'date' },
        email: { type: 'string' },
        state: { type: 'string', enum: ['a'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
    personal: [{ at: '/email', guessed: true }],
    freshness: { max_age_s: 172_800, measured_from: 'as_of' },
  })
  expect(unmapped.map(({ pointer }) => pointer)).toEqual([
    '/servers',
    '/schema/1',
    '/schema/0/properties/1/encryptedName',
    '/schema/0/properties/3/quality/0',
    '/slaProperties/1',
  ])
  expect(checkContractText(contract).map(({ pointer }) => pointer)).toEqual(['/examples'])
})

test('any other document gives an empty draft and says why', () => {
  expect(fromOdcs([]).unmapped).toHaveLength(1)
  expect(fromOdcs({ kind: 'Other' })).toMatchObject({ contract: {}, unmapped: [{ pointer: '' }] })
})
