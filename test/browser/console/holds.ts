/** Holds and erasure: an officer restricts a case, holds its subject, and sees that nothing can be erased until two people agree. */
import { describe, expect } from 'vitest'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'
import { expectFitsScreens, takeScreenshot, waitUntilLoaded } from '../page-session.ts'
import { at, browserTest, createPerson, jobWorker, noProblems, pageHeading, w } from './setup.ts'

describe('a closed case', () => {
  browserTest('on hold is named by its number, and stays readable when its subject was erased', async () => {
    const tenant = await ExampleTenant.create(w)
    await jobWorker.stop()
    const fixture = await fixtures['getInvestigationSeal']?.(tenant, 'compliance_officer')
    const investigation_id = fixture?.params?.['investigation_id'] ?? ''
    const { reference, subject } = await tenant.make(`GET /investigations/${investigation_id}`)
    const author = await tenant.token(undefined, tenant.author)
    const body = { object_kind: 'investigation', object_id: investigation_id, reason: 'Order of the court' }
    const { hold_id } = await tenant.make('POST /holds', { token: author, body })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant: tenant.tenant_id })
    const { page, seen, close } = await at(clara, '/holds')
    await page
      .getByRole('row', { name: /Order of the court/ })
      .getByRole('link', { name: reference })
      .waitFor()
    await takeScreenshot(page, 'console-holds-case')
    await tenant.make(`POST /holds/${hold_id}/release`, { body: { reason: 'The proceedings were closed' } })

    const path = `POST /subjects/${subject.subject_id}/erase`
    const { erasure_id } = await tenant.make(path, { token: author, body: { reason: 'Asked for' } })
    await tenant.runToEnd(await tenant.make(`POST /erasures/${erasure_id}/confirm`))
    jobWorker.start()
    await page.goto(new URL(`/investigations/${investigation_id}`, page.url()).href)
    await pageHeading(page, new RegExp(reference)).waitFor()
    await page.getByText('The narrative was erased').waitFor()
    for (const name of ['Timeline', 'Requests', 'Related', 'Notes']) {
      await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click()
      await waitUntilLoaded(page)
      await pageHeading(page, new RegExp(reference)).waitFor()
    }
    await takeScreenshot(page, 'console-case-erased')
    // The people of the fixture have no accounts.
    const failed = new Set(seen.failed.filter((answer) => !answer.endsWith('/name')))
    expect([...failed]).toEqual([`410 /api/investigations/${investigation_id}/narrative`])
    await close()
  })
})

describe('a legal hold', () => {
  browserTest('under a restriction keeps a subject from erasure until another person releases it', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const otto = await createPerson('Otto Officer', ['compliance_officer'], { tenant })
    const lena = await createPerson('Lena Late', ['compliance_officer'], { tenant })
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const { json: subject } = await w.call('POST /subjects', {
      token: anton.token,
      body: { subject_type: 'person', name: 'Viktor Example', attributes: {} },
    })
    await w.call('POST /alerts', {
      token: anton.token,
      body: {
        ...{ dedup_key: 'viktor', title: 'Cash of Viktor Example', subject_id: subject.subject_id, priority: 'low' },
        ...{ source: 'desk', facts: [{ name: 'sum', value: 'Cash of Viktor Example' }] },
      },
    })
    const { json: restriction } = await w.call('POST /restrictions', {
      token: clara.token,
      body: { purpose: 'Suspicion about payments' },
    })
    await w.call(`PUT /restrictions/${restriction.restriction_id}/access/${otto.user_id}`, {
      token: clara.token,
      body: { effect: 'grant' },
    })

    const { page, seen, close } = await at(clara, '/holds')
    await page.getByRole('button', { name: 'Place a hold' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Place a hold' })
    await dialog.getByLabel('Reason').fill('Order of the court')
    // Without a subject the browser says that the field is missing.
    const chosen = dialog.getByRole('combobox', { name: 'Subject' })
    await dialog.getByRole('button', { name: 'Place the hold' }).click()
    await dialog.locator('input:invalid').waitFor()
    await chosen.fill('Viktor')
    await page.getByRole('option', { name: 'Viktor Example' }).click()
    await dialog.getByLabel('Reference of the authority').fill('4 Js 1207/26')
    await dialog.getByRole('combobox', { name: 'Restriction' }).click()
    await page.getByRole('option', { name: /Suspicion about payments/ }).click()
    await takeScreenshot(page, 'console-hold-place')
    await dialog.getByRole('button', { name: 'Place the hold' }).click()
    await pageHeading(page, /^Hold [0-9a-f]{8}$/).waitFor()
    await page.getByRole('note', { name: 'Restricted' }).getByText('2 people by name').waitFor()
    await page.getByText('You placed it, so another person must release it.').waitFor()
    await expect.poll(() => page.title()).toBe('Restricted record · Probity')
    await expectFitsScreens(page, 'console-hold')
    const address = new URL(page.url()).pathname

    await page.goto(new URL(`/restrictions/${restriction.restriction_id}`, page.url()).href)
    await page.getByRole('link', { name: 'Hold: Order of the court' }).waitFor()

    // A colleague without access does not see the hold.
    const colleague = await at(lena, '/holds')
    await colleague.page.getByText('No legal holds').waitFor()
    await colleague.page.goto(new URL(address, page.url()).href)
    await pageHeading(colleague.page, 'Not found').waitFor()

    const preview = await at(otto, `/erasures/new?subject=${subject.subject_id}`)
    await preview.page.getByText('Something must be kept').waitFor()
    await preview.page.getByRole('table', { name: 'Classes of records' }).getByText('Legal hold').first().waitFor()
    await expect.poll(() => preview.page.getByRole('button', { name: 'Request the erasure' }).count()).toBe(0)
    await expectFitsScreens(preview.page, 'console-erasure-preview')

    const second = await at(otto, address)
    await second.page.getByRole('button', { name: 'Release' }).click()
    const release = second.page.getByRole('dialog', { name: 'Release the hold' })
    await release.getByLabel('Reason').fill('The proceedings ended')
    await release.getByRole('button', { name: 'Release' }).click()
    await second.page.getByText('released', { exact: true }).waitFor()
    expect([seen, preview.seen, second.seen]).toEqual([noProblems, noProblems, noProblems])

    // Whoever confirms reads whom it erases, and that no retention period was looked at.
    await w.call(`POST /subjects/${subject.subject_id}/erase`, {
      token: clara.token,
      body: { reason: 'Request of the customer' },
    })
    await colleague.page.goto(new URL('/', page.url()).href)
    await colleague.page.getByRole('link', { name: 'Erasure of Viktor Example' }).click()
    await pageHeading(colleague.page, /^Erasure [0-9a-f]{8}$/).waitFor()
    await colleague.page.getByRole('link', { name: 'Viktor Example' }).waitFor()
    await colleague.page.getByRole('alert').getByText('The tenant names no jurisdiction').waitFor()
    await expectFitsScreens(colleague.page, 'console-erasure-waiting')
    await colleague.page.getByRole('button', { name: 'Confirm the erasure' }).click()
    const last = colleague.page.getByRole('dialog', { name: 'Erase for good?' })
    await last.getByText('Viktor Example').waitFor()
    await last.getByText('No retention period was applied').waitFor()
    await takeScreenshot(colleague.page, 'console-erasure-confirm')
    await last.getByRole('button', { name: 'Erase' }).click()
    await colleague.page.getByText('No period was applied: the tenant named no jurisdiction').waitFor()
    await colleague.page.getByRole('button', { name: 'Download the certificate' }).waitFor()
    const erased = colleague.page.getByRole('table', { name: 'Erased records' })
    await erased
      .getByRole('row', { name: /^Alerts/ })
      .getByText('1', { exact: true })
      .waitFor()
    await colleague.page.getByText(/^[0-9]+ keys? destroyed/).waitFor()
    await takeScreenshot(colleague.page, 'console-erasure-done')
    // Whoever finds the open alert reads why nothing of it is left.
    await colleague.page.goto(new URL('/inbox', page.url()).href)
    await colleague.page.getByRole('button', { name: 'Erased subject' }).click()
    await colleague.page
      .getByText('The subject was erased, and what the alert said with it. It can be dismissed.')
      .first()
      .waitFor()
    await takeScreenshot(colleague.page, 'console-alert-erased')
    await colleague.page.goto(new URL(`/subjects/${subject.subject_id}`, page.url()).href)
    await colleague.page.getByRole('note', { name: 'Erased' }).getByRole('link', { name: 'Open the erasure' }).waitFor()
    for (const name of ['Open a case', 'Dossier'])
      await expect.poll(() => colleague.page.getByText(name, { exact: true }).count()).toBe(0)
    await takeScreenshot(colleague.page, 'console-subject-erased')
    await Promise.all([close(), preview.close(), second.close(), colleague.close()])
  })
})
