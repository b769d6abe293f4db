/** The guided start of an empty tenant, from the home page to the replayed decision. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { roles } from '#kernel/auth/roles.ts'
import { expectFitsScreens, openPage, takeScreenshot } from '../page-session.ts'
import { at, base, browser, browserTest, noProblems, pageHeading, w } from './setup.ts'

const people = roles.filter((role) => role !== 'service')
const step = (page: Page, number: number) => page.getByRole('listitem', { name: new RegExp(`^Step ${number}: `) })
const expectDone = (page: Page, number: number) => step(page, number).getByText('done', { exact: true }).waitFor()

describe('guided start', () => {
  browserTest('takes an empty tenant through five steps, and can be left and resumed', async () => {
    const tenant = await w.makeTenant()
    const { page, seen, close } = await at(await w.person(tenant, people), '/')
    const offer = page.getByRole('region', { name: /^Start here/ })
    await offer.getByText('0 of 5 done').waitFor()
    await offer.getByRole('link', { name: 'Begin' }).click()
    await pageHeading(page, 'Guided start').waitFor()

    await step(page, 2).getByText('later').waitFor()
    await page.getByRole('button', { name: 'Import the sample file' }).click()
    await expectDone(page, 1)
    await takeScreenshot(page, 'guide-imported')

    await page.reload()
    await page.getByRole('button', { name: 'Put version 1 in force' }).click()
    const dialog = page.getByRole('dialog', { name: /Put in force: version 1 of Risk bands/ })
    await dialog.getByText('2 changed').waitFor()
    await dialog.getByLabel('Reason').fill('Our risk appetite of this year')
    await dialog.getByRole('button', { name: 'Put in force' }).click()
    await expectDone(page, 2)

    await page.getByRole('button', { name: 'Rate the customer' }).click()
    await page.getByText('Erika Beispiel is rated low').waitFor()
    await expectDone(page, 3)
    const result = step(page, 3).getByRole('group', { name: 'Result of the rating' })
    await expect.poll(() => result.innerText()).toMatch(/^low\s+with a score of [\d,]+ of 10,000/)

    await expect.poll(() => page.getByLabel('Medium risk from a score of').inputValue()).toBe('2,000')
    // The own list by name: while the shared one is in force, the address alone means that.
    const measured = page.waitForRequest((request) => request.url().includes('/impact?origin=own'))
    await page.getByRole('button', { name: 'Save as a new version and analyse the impact' }).click()
    await measured
    await step(page, 4).getByRole('table', { name: 'Migration of results' }).waitFor()
    await step(page, 4).getByText('100.0 %').waitFor()
    await expectDone(page, 4)
    await expectFitsScreens(page, 'guide-impact')

    await page.reload()
    await step(page, 4).getByRole('table', { name: 'Migration of results' }).waitFor()
    await step(page, 4).getByRole('button', { name: 'Put version 2 in force' }).waitFor()

    await step(page, 5).getByRole('button', { name: 'Replay' }).click()
    await step(page, 5).getByText('Identical').waitFor()
    await expectDone(page, 5)
    await page.getByText('5 of 5 steps done').waitFor()

    await page.getByRole('link', { name: 'Go to the home page' }).click()
    await pageHeading(page, /./).waitFor()
    await expect.poll(() => page.getByRole('region', { name: /guided start|Start here/ }).count()).toBe(0)

    // The tenant now has a list of its own under the key of a shared one.
    await page.goto(`${base}/resolver`)
    await page.getByRole('combobox', { name: 'List' }).fill('risk-bands')
    await page.getByRole('option', { name: /\(risk-bands\)/ }).waitFor()
    await expect.poll(() => page.getByRole('option').count()).toBe(1)
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('says who can do a step, and stays dismissed until it is reopened from the account menu', async () => {
    const { page, seen, close } = await at(await w.person(await w.makeTenant(), ['viewer']), '/')
    await page
      .getByRole('region', { name: /^Start here/ })
      .getByRole('button', { name: 'Dismiss' })
      .click()
    await page.getByRole('region', { name: /^Start here/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Guided start' }).click()
    await step(page, 1).getByText('Somebody with the role policy editor can do it').waitFor()
    await step(page, 3).getByText('Somebody with the role analyst').waitFor()
    await expect.poll(() => step(page, 3).getByRole('button').count()).toBe(0)
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('leads to a requested activation while other steps are open', async () => {
    const tenant = await w.makeTenant()
    const { page, seen, close } = await at(await w.person(tenant, ['policy_editor', 'analyst']), '/guide')
    await page.getByRole('button', { name: 'Import the sample file' }).click()
    await page.getByRole('button', { name: 'Request activation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill(`Our risk appetite: ${'x'.repeat(120)}`)
    await dialog.getByRole('button', { name: 'Request activation' }).click()
    await step(page, 2).getByText('waiting for approval', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Rate the customer' }).waitFor()
    await step(page, 2)
      .getByText('A compliance officer other than the requester approves it', { exact: false })
      .waitFor()
    await step(page, 2).getByRole('link', { name: 'Open change requests' }).click()
    await pageHeading(page, 'Change requests').waitFor()
    await page.getByRole('link', { name: /Risk bands/ }).click()
    await page.getByText('Reason given:').waitFor()
    await expectFitsScreens(page, 'request-with-a-long-word')

    // Archived meanwhile, it can only be rejected.
    const officer = await w.person(tenant, ['compliance_officer'])
    await w.call('POST /reference-data/datasets/risk-bands/archive', { token: officer.token })
    const approver = await at(officer, new URL(page.url()).pathname)
    await approver.page.getByText('Not archived: not met').waitFor()
    await approver.page
      .getByText(/^“.*Risk bands.*” was archived, so/)
      .first()
      .waitFor()
    await approver.page.getByRole('button', { name: 'Reject' }).waitFor()
    await expect.poll(() => approver.page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await approver.page.goto(`${base}/change-requests?view=mine`)
    await approver.page.getByText('no longer applicable').waitFor()
    await approver.page.goto(`${base}/datasets/risk-bands?origin=own`)
    await approver.page.getByText('The list was archived: no version of it can be put in force.').waitFor()
    expect(approver.seen).toEqual(noProblems)
    await approver.close()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('names the demo people who can do a step, and goes on as one of them', async () => {
    const { page, seen, close } = await openPage(browser, base, '/guide')
    await page.getByText('Is empty: a guided start leads from the first list to the first decision.').waitFor()
    await page.getByRole('button', { name: 'Sign in as a viewer of Second Demo Bank: Vera Viewer' }).click()
    await step(page, 1)
      .getByText(/^Your roles do not include this step\. Petra Policy can do it/)
      .waitFor()
    await step(page, 3)
      .getByText(/Anton Analyst can do it/)
      .waitFor()
    await takeScreenshot(page, 'guide-demo-people')
    await step(page, 1).getByRole('button', { name: 'Go on as Petra Policy' }).click()
    await page.getByRole('button', { name: 'Account of Petra Policy' }).waitFor()
    await step(page, 1).getByRole('button', { name: 'Import the sample file' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})
