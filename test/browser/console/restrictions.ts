/** Restrictions: an officer restricts access, gives it to others, and people without access find nothing. */
import type { Locator } from 'playwright-core'
import { describe, expect } from 'vitest'
import { expectFitsScreens, takeScreenshot, waitUntilLoaded } from '../page-session.ts'
import { at, browserTest, createPerson, noProblems, pageHeading, w } from './setup.ts'

const PURPOSE = 'Suspicion about the payments of Acme Trading'

async function choosePerson(dialog: Locator, label: string, name: string): Promise<void> {
  const field = dialog.getByRole('combobox', { name: label })
  await field.fill(name)
  await dialog
    .page()
    .getByRole('option', { name: new RegExp(`^${name}`) })
    .click()
}

describe('a proposed designation of the MLRO', () => {
  browserTest('is on the home page of those who may confirm it', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const mona = await createPerson('Mona Mlro', ['compliance_officer'], { tenant })
    const tara = await createPerson('Tara Admin', ['tenant_admin'], { tenant })
    await w.call('POST /mlro-designations', {
      token: clara.token,
      body: { user_id: mona.user_id, effect: 'designate', reason: 'Successor of the former officer' },
    })
    const admin = await at(tara, '/')
    const waiting = admin.page.getByRole('region', { name: 'Needs a second person' })
    const link = waiting.getByRole('link', { name: 'Designation of the MLRO' })
    await waiting.getByRole('listitem').filter({ hasText: 'Designation of the MLRO' }).getByText('Mona Mlro').waitFor()
    await takeScreenshot(admin.page, 'console-designation-home')

    // Neither who proposed it nor who is designated confirms it.
    for (const person of [clara, mona]) {
      const other = await at(person, '/')
      await waitUntilLoaded(other.page)
      await expect.poll(() => other.page.getByRole('link', { name: 'Designation of the MLRO' }).count()).toBe(0)
      await other.close()
    }

    await link.click()
    await pageHeading(admin.page, 'MLRO').waitFor()
    await admin.page.getByRole('button', { name: 'Confirm' }).click()
    await admin.page.getByRole('list', { name: 'Designated now' }).getByText('Mona Mlro').waitFor()
    await admin.page.getByRole('link', { name: 'Home' }).first().click()
    await pageHeading(admin.page, 'MLRO').waitFor({ state: 'hidden' })
    await waiting.waitFor({ state: 'hidden' })
    expect(admin.seen).toEqual(noProblems)
    await admin.close()
  })
})

describe('a restriction', () => {
  browserTest('is created, shared, handed to an auditor for hours, and lifted; others find nothing', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const mona = await createPerson('Mona Mlro', ['compliance_officer'], { tenant })
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const emil = await createPerson('Emil Other', ['analyst'], { tenant })
    await createPerson('Udo Auditor', ['auditor'], { tenant })
    const tara = await createPerson('Tara Admin', ['tenant_admin'], { tenant })

    const officer = await at(clara, '/restrictions')
    const { page } = officer
    await page.getByText('No restrictions that you have access to').waitFor()
    await page.getByRole('button', { name: 'Restrict access' }).first().click()
    const create = page.getByRole('dialog', { name: 'Restrict access' })
    await create.getByLabel('Purpose').fill(PURPOSE)
    await create.getByRole('button', { name: 'Create' }).click()
    await pageHeading(page, /^Restriction [0-9a-f]{8}$/).waitFor()
    const note = page.getByRole('note', { name: 'Restricted' })
    await note.getByText('1 person by name').waitFor()
    await note.getByText('Do not discuss with the customer.').waitFor()
    await expect.poll(() => page.title()).toBe('Restricted record · Probity')
    expect(page.url()).not.toMatch(/acme/i)

    await page.getByRole('button', { name: 'Give access' }).click()
    const grant = page.getByRole('dialog', { name: 'Give access' })
    await choosePerson(grant, 'Person', 'Anton Analyst')
    await grant.getByLabel('Until').fill('2999-12-31T17:30')
    await grant.getByLabel('Reason').fill('Works on the case')
    await takeScreenshot(page, 'console-restriction-grant')
    await grant.getByRole('button', { name: 'Give access' }).click()
    const list = page.getByRole('table', { name: 'Access list' })
    await list
      .getByRole('row', { name: /Anton Analyst/ })
      .getByText(/days left$/)
      .filter({ visible: true })
      .waitFor()
    await note.getByText('2 people by name').waitFor()
    await page.getByRole('button', { name: 'Exclude a person' }).click()
    const exclude = page.getByRole('dialog', { name: 'Exclude a person' })
    await choosePerson(exclude, 'Person', 'Emil Other')
    await exclude.getByRole('button', { name: 'Exclude' }).click()
    await list
      .getByRole('row', { name: /Emil Other/ })
      .getByText('excluded', { exact: true })
      .waitFor()
    const address = new URL(page.url()).pathname

    // People without access get the page of an address that does not exist.
    const colleague = await at(emil, address)
    await pageHeading(colleague.page, 'Not found').waitFor()
    expect(await colleague.page.content()).not.toContain('Acme')
    await colleague.close()
    const analyst = await at(anton, address)
    await pageHeading(analyst.page, /^Restriction/).waitFor()
    await expect.poll(() => analyst.page.getByRole('button', { name: 'Give access' }).count()).toBe(0)
    expect(analyst.seen).toEqual(noProblems)
    await analyst.close()

    // The MLRO is designated by two other people.
    await page.goto(new URL('/mlro', page.url()).href)
    await page.getByRole('button', { name: 'Propose a change' }).first().click()
    const propose = page.getByRole('dialog', { name: 'Propose a change of the MLRO' })
    await choosePerson(propose, 'Person', 'Mona Mlro')
    await propose.getByLabel('Reason').fill('Successor of the former officer')
    await propose.getByRole('button', { name: 'Propose' }).click()
    await page.getByText('Another person must confirm.').waitFor()
    const admin = await at(tara, '/mlro')
    await admin.page.getByRole('button', { name: 'Confirm' }).click()
    await admin.page.getByRole('list', { name: 'Designated now' }).getByText('Mona Mlro').waitFor()
    await admin.close()
    const second = await at(mona, '/mlro')
    await second.page.getByRole('list', { name: 'Designated now' }).getByText('Mona Mlro').waitFor()
    await expectFitsScreens(second.page, 'console-mlro')

    // The MLRO sees it without being named, and lets an auditor in.
    await second.page.goto(new URL(address, page.url()).href)
    await second.page.getByRole('button', { name: 'Emergency access for an auditor' }).click()
    const emergency = second.page.getByRole('dialog', { name: 'Emergency access for an auditor' })
    await choosePerson(emergency, 'Auditor', 'Udo Auditor')
    await emergency.getByLabel('Reason').fill('Inspection by the supervisor')
    await emergency.getByRole('button', { name: 'Give access' }).click()
    const auditor = second.page.getByRole('row', { name: /Udo Auditor/ })
    await auditor.getByText('emergency access').waitFor()
    await auditor
      .getByText(/^(59 min|1 h 0 min) left$/)
      .filter({ visible: true })
      .waitFor()
    await expectFitsScreens(second.page, 'console-restriction')
    await auditor.getByRole('button', { name: 'Revoke' }).click()
    await second.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await auditor.waitFor({ state: 'detached' })
    await second.page.getByRole('switch', { name: 'Show what has ended' }).click()
    // The column of reasons is left out on a narrow screen.
    await auditor.getByText('Inspection by the supervisor').waitFor({ state: 'attached' })
    await auditor
      .getByText(/^ended /)
      .filter({ visible: true })
      .waitFor()
    await expect.poll(() => auditor.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
    expect(second.seen).toEqual(noProblems)
    await second.close()

    await page.goto(new URL(`${address}?tab=log`, page.url()).href)
    const log = page.getByRole('table', { name: 'Access log' })
    await log.getByText('Gave an auditor emergency access').waitFor()
    await log.getByText('Anton Analyst').first().waitFor()
    await takeScreenshot(page, 'console-restriction-log')
    await page.getByRole('button', { name: 'Lift' }).click()
    const lift = page.getByRole('dialog', { name: 'Lift the restriction' })
    await lift.getByLabel('Reason').fill('The suspicion was not confirmed')
    await lift.getByRole('button', { name: 'Lift' }).click()
    await page.getByRole('main').getByText('lifted', { exact: true }).waitFor()
    await expect.poll(() => note.count()).toBe(0)
    await page.getByRole('main').getByRole('button', { name: 'Impose', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Impose', exact: true }).click()
    await note.waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })
})

describe('access that ends by itself', () => {
  browserTest('offers an officer no change of who has access, and says why', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const olaf = await createPerson('Olaf Officer', ['compliance_officer'], { tenant })
    const call = async (line: string, body: object) => (await w.call(line, { token: clara.token, body })).json
    const { restriction_id } = await call('POST /restrictions', { purpose: PURPOSE })
    const access = `/restrictions/${restriction_id}/access/${olaf.user_id}`
    await call(`PUT ${access}`, { effect: 'grant', until: new Date(Date.now() + 3_600_000).toISOString() })
    const { page, seen, close } = await at(olaf, `/restrictions/${restriction_id}`)
    await page.getByRole('note').filter({ hasText: 'Your access ends by itself at' }).waitFor()
    await page.getByRole('row', { name: /^Clara Compliance/ }).waitFor()
    for (const name of ['Give access', 'Exclude a person', 'Lift', 'Revoke'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    await takeScreenshot(page, 'console-ending-access')
    // Without an end they are offered.
    await call(`PUT ${access}`, { effect: 'grant' })
    await page.reload()
    await page.getByRole('button', { name: 'Give access' }).waitFor()
    await page.getByRole('button', { name: 'Lift' }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})

describe('a restricted alert', () => {
  browserTest('has its padlock in the search from anywhere, among all results, and in the own work', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const send = async (path: string, body: object) => (await w.call(path, { token: clara.token, body })).json
    const { restriction_id } = await send('POST /restrictions', { purpose: PURPOSE })
    const facts = { source: 'desk', dedup_key: 'desk:smuggling', priority: 'high', restriction_id }
    const { alert_id } = await send('POST /alerts', { ...facts, title: 'Suspected smuggling' })
    await send(`POST /alerts/${alert_id}/assign`, { user_id: clara.user_id })

    const officer = await at(clara, '/')
    const { page } = officer
    const mark = (of: Locator) => of.getByRole('img', { name: /^Restricted\./ })
    const own = page.getByRole('list', { name: 'Assigned to you' }).getByRole('listitem')
    await mark(own.first()).waitFor()
    await takeScreenshot(page, 'console-home-restricted')
    await page.keyboard.press('Control+K')
    const finder = page.getByRole('dialog', { name: 'Search' })
    await finder.getByRole('combobox', { name: 'Search' }).fill('smuggling')
    const option = finder.getByRole('option', { name: /Suspected smuggling/ })
    await mark(option).waitFor()
    await takeScreenshot(page, 'console-search-restricted')
    await finder.getByRole('option', { name: /^All results/ }).click()
    await pageHeading(page, 'Search').waitFor()
    await mark(page.getByRole('region', { name: 'Alerts' })).waitFor()
    expect(officer.seen).toEqual(noProblems)
    await officer.close()
  })
})
