/** Providers: from a manifest to a decision on their answer, credentials, and what a person decides. */
import { describe, expect } from 'vitest'
import { fixtures } from '#modules/providers/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import {
  anton,
  at,
  base,
  browserTest,
  clara,
  createPersonToken,
  jobWorker,
  noProblems,
  pageHeading,
  petra,
  w,
} from './setup.ts'

const KEY = 'company-registry'

describe('a provider', () => {
  browserTest('is made from a template with located findings, published and put in force', async () => {
    const { page, seen, close } = await at(petra, '/providers')
    await page.getByRole('link', { name: 'New provider' }).click()
    await page.getByLabel('HTTP service with an API key').check()
    const manifest = page.getByRole('textbox', { name: 'Manifest' })
    const text = await manifest.inputValue()
    await manifest.fill(`${text}]`)
    await page.getByText(/^This is not valid JSON: look at line \d+, column \d+\.$/).waitFor()
    await manifest.fill(text.replace('"company-registry"', '"unheard-of"'))
    await expect.poll(() => page.getByRole('textbox', { name: 'Key' }).inputValue()).toBe(KEY)
    await page.getByRole('button', { name: 'Create draft' }).click()
    await pageHeading(page, 'Draft of Company registry').waitFor()
    await page.getByText('No version of the contract unheard-of is in force.').waitFor()
    await page.getByRole('button', { name: /^at \/capabilities/ }).click()
    await expect.poll(() => page.evaluate('document.getSelection().toString()')).toBe('"unheard-of"')
    await manifest.fill(text)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The manifest can be published.').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('button', { name: 'Validate and publish' }).click()
    await page.getByRole('listitem', { name: 'Version 1' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
    const officer = await at(clara, `/providers/${KEY}?tab=versions`)
    await officer.page.getByRole('button', { name: /^Put in force.*version 1$/ }).click()
    await officer.page.getByLabel('Reason').fill('Reviewed with the provider')
    await officer.page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click()
    await officer.page.getByRole('region', { name: 'Status' }).getByText('missing').waitFor()
    await expectFitsScreens(officer.page, 'decisions-provider')
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })

  browserTest('names the missing credential with a link that fixes it, and answers once it can', async () => {
    const tara = await createPersonToken('Tara Admin', 'tenant_admin')
    const asking = await at(anton, `/providers/${KEY}`)
    await asking.page.getByRole('button', { name: 'New call' }).click()
    await asking.page.getByLabel('Company number').fill('00000006')
    await asking.page.getByRole('button', { name: 'Ask the provider' }).click()
    await asking.page.getByRole('list', { name: 'Missing credentials' }).getByText(KEY).waitFor()
    expect(asking.seen).toEqual({ ...noProblems, failed: [`424 /api/providers/${KEY}/calls`] })
    const { page, seen, close } = await at(tara, '/')
    const missing = page.getByRole('region', { name: 'Credentials missing' })
    await missing.getByRole('link', { name: 'Company registry' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    const secret = page.getByLabel('API key')
    await expect.poll(() => secret.getAttribute('autocomplete')).toBe('new-password')
    await expect.poll(() => secret.getAttribute('type')).toBe('password')
    await secret.fill('a-secret-of-the-provider')
    await page.getByRole('button', { name: 'Store', exact: true }).click()
    const version = page.getByRole('listitem', { name: 'Version 1' })
    await version.getByText('staged').waitFor()
    expect(await page.content()).not.toContain('a-secret-of-the-provider')
    await version.getByRole('button', { name: 'Activate version 1' }).click()
    await page.getByLabel('Reason').fill('First key')
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await version.getByText('active').waitFor()
    await expectFitsScreens(page, 'decisions-credential')
    await page.goto(`${base}/providers/${KEY}`)
    await page.getByRole('button', { name: 'Switch mode' }).click()
    await page.getByLabel('Fixtures').check()
    await page.getByLabel('Reason').fill('Not connected yet')
    await page.getByRole('dialog').getByRole('button', { name: 'Switch mode' }).click()
    await page.getByRole('region', { name: 'Status' }).getByText('fixtures').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
    await asking.page.getByRole('button', { name: 'Ask the provider' }).click()
    await pageHeading(asking.page, 'company.lookup').waitFor()
    await asking.page.getByText('admitted').waitFor()
    await takeScreenshot(asking.page, 'decisions-call')
    await asking.close()
  })

  browserTest('leaves an unknown outcome to a person, who says how the answer is known', async () => {
    const tenant = await ExampleTenant.create(w)
    // The fixture ends the call by hand, before a worker does.
    await jobWorker.stop()
    const fixture = await fixtures['answerProviderCall']?.(tenant, 'compliance_officer')
    jobWorker.start()
    const { content } = (fixture?.body ?? {}) as { content: string }
    const officer = await createPersonToken('Carl Compliance', 'compliance_officer', tenant.tenant_id)
    const { page, seen, close } = await at(officer, '/')
    const waiting = page.getByRole('region', { name: 'Calls with an unknown outcome' })
    await waiting.getByRole('link', { name: 'Company lookup' }).click()
    await page.getByText('A person decides').waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/providers/calls/${fixture?.params?.['call_id']}`)
    await expectFitsScreens(page, 'decisions-unknown-outcome')
    await page.getByRole('button', { name: 'Enter the answer' }).click()
    await page.getByLabel('How it is known').fill('Read from the portal of the provider')
    await page.getByRole('textbox', { name: 'Answer' }).fill('yes, they have it')
    await page.getByRole('button', { name: 'Store the answer' }).click()
    await page.getByText('This is not valid JSON: look at line 1, column 1.').waitFor()
    await page.getByRole('textbox', { name: 'Answer' }).fill(content)
    await page.getByRole('button', { name: 'Store the answer' }).click()
    const answer = page.getByRole('region', { name: 'Answer' })
    await answer.getByText('Entered by a person').waitFor()
    await answer.getByRole('button', { name: 'Show the answer' }).click()
    await answer.getByText('Example Trading Ltd').waitFor()
    // The caller of the fixture has no account, so its name is not found.
    expect({ ...seen, failed: [] }).toEqual(noProblems)
    await close()
  })
})
