/** Playbooks: a shared one is read, copied, changed with located findings, published and put in force. */
import { describe, expect } from 'vitest'
import { registryManifest } from '#modules/providers/fixtures.ts'
import { expectFitsScreens } from '../page-session.ts'
import { at, browserTest, clara, noProblems, pageHeading, petra, w } from './setup.ts'

const REGISTRY = 'register-without-credential'
const CAPABILITY = 'company.lookup'

/** In force, and without a credential. */
async function createRegistry(): Promise<void> {
  const definition = registryManifest()
  await w.call('POST /providers', { token: petra, body: { provider_key: REGISTRY, title: 'Register', definition } })
  await w.call(`POST /providers/${REGISTRY}/versions/draft/publish`, { token: petra, body: {} })
  const body = { version: 1, reason: 'Reviewed' }
  await w.call(`POST /providers/${REGISTRY}/activations`, { token: clara, body })
}

describe('a playbook', () => {
  browserTest('shows its steps in order, and is changed in an own draft and put in force', async () => {
    await createRegistry()
    const { page, seen, close } = await at(petra, '/playbooks')
    await page.getByRole('link', { name: 'Enhanced due diligence, person' }).click()
    const steps = page.getByRole('table', { name: 'Steps' })
    const row = steps.getByRole('row').filter({ hasText: 'Risk rating' })
    await row.getByText('Prohibited country, Sanctions and exposure, Adverse media', { exact: true }).waitFor()
    await page.getByRole('table', { name: 'Outcomes' }).getByText('INV_EXIT').first().waitFor()
    await expectFitsScreens(page, 'decisions-playbook')
    await page.getByRole('button', { name: 'Copy to own playbook' }).click()
    await pageHeading(page, 'Draft of Enhanced due diligence, person').waitFor()
    const editor = page.getByRole('textbox', { name: 'Playbook' })
    const text = await editor.inputValue()
    await editor.fill(text.replace('"matrix": "customer-risk-person"', '"matrix": "unheard-of"'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('No version of the matrix unheard-of is in force.').waitFor()
    await page.getByRole('button', { name: /^at \/steps\/6\/with\/matrix/ }).click()
    await expect.poll(() => page.evaluate('document.getSelection().toString()')).toBe('"unheard-of"')
    const step = {
      key: 'lookup',
      kind: 'provider',
      title: 'Look-up',
      with: { capability: CAPABILITY, provider: REGISTRY },
    }
    const input = { number: { value: '00000006' } }
    const added = JSON.stringify({ ...step, with: { ...step.with, input }, required: false })
    await editor.fill(text.replace('"days": 20', '"days": 15').replace('"steps": [', `"steps": [${added},`))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The playbook can be published.').waitFor()
    // A missing credential hinders nothing, and is named until a case is opened.
    const gap = page.getByRole('status').filter({ hasText: 'Credentials are missing' })
    await gap.getByRole('link', { name: REGISTRY }).waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('dialog').getByText('Credentials are missing').waitFor()
    await page.getByRole('button', { name: 'Validate and publish' }).click()
    await page.getByRole('listitem', { name: 'Version 1' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
    const officer = await at(clara, '/playbooks/edd-person?origin=own&tab=versions')
    await officer.page.getByRole('button', { name: /^Put in force.*version 1$/ }).click()
    await officer.page.getByRole('dialog').getByText('Credentials are missing').waitFor()
    await officer.page.getByLabel('Reason').fill('Cases are to be closed sooner')
    await officer.page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await officer.page.getByRole('tab', { name: 'Steps' }).click()
    await officer.page.getByText('15 business days').first().waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })
})
