/** The quick form of `npm run acceptance -- api-fuzz`: a few hundred valid and invalid requests, always the same ones. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runGeneratedRequests } from '../acceptance/fuzz/generated-requests.ts'
import { ApiContract } from '../support/contract.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { GeneratedRequests } from '../support/generated-requests.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const SEED = 20_261_115

let w: TestApp
let base: string
let tenant: ExampleTenant

beforeAll(async () => {
  w = await startTestApp()
  base = await w.listen()
  tenant = await ExampleTenant.create(w)
})
afterAll(() => w.close())

test('every answer to generated requests conforms to the OpenAPI document', async () => {
  const result = await runGeneratedRequests({
    base,
    document: await w.kernel.openapi(),
    tokens: [await tenant.token()],
    seed: SEED,
    valid: 400,
    invalid: 400,
    at_once: 4,
    own_addresses: false,
  })
  expect(result.findings).toEqual([])
  expect(result.faults).toBe(0)
  expect(result.operations).toBeGreaterThan(40)
  expect(Object.keys(result.statuses)).toEqual(
    expect.arrayContaining(['valid 200', 'valid 201', 'invalid 422', 'invalid 400']),
  )
})

test('the same seed gives the same requests', async () => {
  const contract = new ApiContract(await w.kernel.openapi())
  const requests = (seed: number) => {
    const made = new GeneratedRequests(contract, new SeededRandom(seed), () => undefined)
    return Array.from({ length: 50 }, (_, n) => {
      const { method, url, body, kind } = n % 2 ? made.valid() : made.invalid()
      return [method, url, String(body), kind]
    })
  }
  expect(requests(1)).toEqual(requests(1))
  expect(requests(1)).not.toEqual(requests(2))
})

test('the check detects an answer of another shape and an undocumented status', async () => {
  const contract = new ApiContract(await w.kernel.openapi())
  const operation = contract.operations.find(({ id }) => id === 'getTenant')
  if (!operation) throw new Error('getTenant is not in the document')
  expect(contract.faultOf(operation, 200, 'application/json', '{}')).toMatch(/required property/)
  expect(contract.faultOf(operation, 418, 'application/json', '{}')).toMatch(/not documented/)
  expect(contract.faultOf(operation, 200, 'text/html', '<p>')).toMatch(/text\/html/)
  expect(contract.faultOf(operation, 200, 'application/json', '{')).toMatch(/no JSON/)
})
