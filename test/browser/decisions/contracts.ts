/** Source contracts: a draft from samples to a version in force, and payloads from quarantine to a wider contract. */
import { describe, expect } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { closeWindow, insertDriftFindings, insertWindow } from '#modules/source-contracts/drift/queries.ts'
import { admitPayload, storePayload } from '#modules/source-contracts/index.ts'
import { companyContract, companyPayload, companyRecord } from '#test/support/company-registry.ts'
import { expectFitsScreens } from '../page-session.ts'
import { tenant_id } from '../setup.ts'
import { at, base, browserTest, clara, noProblems, pageHeading, petra, w } from './setup.ts'

const received_at = '2026-01-20T00:00:00.000Z'

/** A payload as a provider would have sent it. */
async function receivePayload(contract_key: string, record: Record<string, unknown>): Promise<string> {
  const scope = fullScope(tenant_id, 'operator:test')
  const payload_id = await w.kernel.transactions.write(scope, (tx) =>
    storePayload(tx, w.kernel, {
      contract_key,
      media_type: 'application/json',
      bytes: Buffer.from(JSON.stringify(companyPayload([companyRecord(1, record)]))),
      source_kind: 'example',
      source_id: uuidv7(),
      received_at,
    }),
  )
  await admitPayload(w.kernel, scope, { payload_id })
  return payload_id
}

/** A finding as the job would have made it. */
async function createDrift(contract_key: string): Promise<void> {
  const of = { window_id: uuidv7(), contract_key, contract_version: 1 }
  const facts = { share: 0.5, declared: false }
  await w.kernel.transactions.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
    await insertWindow(tx, {
      ...{ ...of, payload_count: 30, record_count: 30, sketch: Buffer.alloc(1), last_admission_id: uuidv7() },
      opened_at: received_at,
    })
    await closeWindow(tx, of.window_id, false)
    await insertDriftFindings(tx, of, [
      { kind: 'new_member', pointer: '/vat', item: '', facts, first_payload_id: null },
    ])
  })
}

async function createContract(contract_key: string): Promise<void> {
  const path = `/source-contracts/${contract_key}`
  const body = { contract_key, title: 'Company register', definition: companyContract() }
  await w.call('POST /source-contracts', { token: petra, body })
  await w.call(`POST ${path}/versions/draft/publish`, { token: petra, body: {} })
  await w.call(`POST ${path}/activations`, { token: clara, body: { version: 1, reason: 'Reviewed' } })
}

describe('source contracts', () => {
  browserTest('are proposed from samples, tested with a payload and published', async () => {
    const { page, seen, close } = await at(petra, '/source-contracts/new')
    const samples = [1, 2, 3].map((number) => JSON.stringify(companyPayload([companyRecord(number)])))
    await page.getByLabel('Payloads', { exact: true }).fill(samples.join('\n'))
    await page.getByRole('button', { name: 'Propose a draft' }).click()
    await page.getByText('Made from 3 records.').waitFor()
    await page.getByLabel('Title').fill('Registry of samples')
    await expect.poll(() => page.getByLabel('Key').inputValue()).toBe('registry-of-samples')
    await page.getByRole('button', { name: 'Create and open the draft' }).click()
    await pageHeading(page, 'Draft of Registry of samples').waitFor()

    const wrong = companyPayload([companyRecord(1), companyRecord(2, { capital: 'much' })])
    await page.getByRole('textbox', { name: 'Payload' }).fill(JSON.stringify(wrong, null, 2))
    await page.getByRole('button', { name: 'Check payload' }).click()
    const steps = page.getByRole('list', { name: 'Steps of admission' })
    await steps.getByText('Wrong kind of value').waitFor()
    await steps.getByRole('button', { name: 'record 2, /capital' }).click()
    const selected = `(({ value, selectionStart, selectionEnd }) => value?.slice(selectionStart, selectionEnd))(document.activeElement)`
    await expect.poll(() => page.evaluate(selected)).toBe('"much"')
    await page.getByRole('button', { name: 'Add as counter-example' }).click()
    await expectFitsScreens(page, 'decisions-contract-draft')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('All changes saved').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('button', { name: 'Validate and publish' }).click()
    await page.getByRole('list', { name: 'Versions, newest first' }).getByLabel('Version 1').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('keep refused payloads in quarantine until the contract is widened', async () => {
    await createContract('company-register')
    await createDrift('company-register')
    await receivePayload('company-register', { status: 'struck off' })
    await receivePayload('company-register', { capital: -1 })
    const { page, seen, close } = await at(petra, '/source-contracts/quarantine?contract=company-register')
    const rows = page.getByRole('table', { name: 'Quarantined payloads' })
    await rows.getByText('Number too small').waitFor()
    await page.getByRole('combobox', { name: 'Kind of violation' }).fill('Value not')
    await page.getByRole('option', { name: /enum/ }).click()
    await expect.poll(() => rows.getByText('Number too small').count()).toBe(0)
    await rows.getByRole('link').click()
    await pageHeading(page, 'Payload of company-register').waitFor()
    const payload = page.getByRole('region', { name: 'Payload', exact: true })
    await expect
      .poll(() => payload.locator('[data-marked]').innerText())
      .toMatch(/"status": "struck off".*Value not allowed/s)
    await expect.poll(() => payload.innerText()).toContain('"name": "[personal]"')
    await expectFitsScreens(page, 'decisions-quarantine-item')
    await page.getByRole('button', { name: 'Resolve' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Widen the contract').check()
    await dialog.getByLabel('Reason').fill('The registry has a new status')
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await page.getByText('The registry has a new status').waitFor()
    await page.getByRole('link', { name: 'Open the draft' }).click()
    await pageHeading(page, 'Draft of Company register').waitFor()
    await expect.poll(() => page.getByLabel('Schema of a record as JSON').inputValue()).toContain('struck off')

    await page.goto(`${base}/source-contracts/company-register?tab=drift`)
    const findings = page.getByRole('table', { name: 'Drift findings' })
    await findings.getByRole('button', { name: 'Mark as seen: /vat' }).click()
    await page.getByRole('dialog').getByLabel('Note').fill('Announced by the registry')
    await page.getByRole('dialog').getByRole('button', { name: 'Mark as seen' }).click()
    await findings.getByText('Announced by the registry').waitFor()
    await expectFitsScreens(page, 'decisions-contract-drift')
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('name the payloads that another version refuses, before it is put in force', async () => {
    const contract_key = 'stricter-register'
    await createContract(contract_key)
    await receivePayload(contract_key, { status: 'dissolved' })
    const record = structuredClone(companyContract().record) as { properties: Record<string, object> }
    record.properties['status'] = { type: 'string', enum: ['active'] }
    const facts = companyContract().facts.filter(({ name }) => name !== 'status')
    const path = `/source-contracts/${contract_key}`
    const body = { definition: companyContract({ record, facts }) }
    await w.call(`POST ${path}/versions`, { token: petra, body })
    const published = await w.call(`POST ${path}/versions/draft/publish`, { token: petra, body: {} })
    expect(published.json).toMatchObject({ version: 2 })
    const { page, seen, close } = await at(clara, `${path}?tab=versions`)
    await page
      .getByLabel('Version 2')
      .getByRole('button', { name: /^Put in force/ })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 payload of the last 1 would be quarantined').waitFor()
    await dialog.getByText('status is removed').waitFor()
    await dialog.getByLabel('Reason').fill('Dissolved companies are not served')
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await dialog.getByLabel(/^Accept that 1 stored payload/).check()
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await page.getByText('Version 2 in force').waitFor()
    expect(seen.failed).toEqual([`409 /api${path}/activations`])
    await close()
  })
})
