/** Users, their absences, and API keys. */
import { describe, expect } from 'vitest'
import { openPage, signIn, takeScreenshot } from '../page-session.ts'
import {
  approveBy,
  at,
  base,
  browser,
  browserTest,
  createPerson,
  navigation,
  noProblems,
  tara,
  till,
  w,
} from './setup.ts'

describe('users', () => {
  browserTest('are listed in pages', async () => {
    const manyPeople = await w.makeTenant()
    const token = await w.token({ tenant_id: manyPeople, roles: ['tenant_admin'] })
    for (let i = 0; i < 53; i++) {
      await w.call('POST /users', { token, body: { name: `Person ${i}`, email: `p${i}@example.com`, roles: [] } })
    }
    const { page, seen, close } = await at({ user_id: '', token }, '/users')
    await page.getByText('50 rows shown').waitFor()
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('53 rows shown, no more').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be invited and filtered, and a duplicate email address is refused', async () => {
    const { page, seen, close } = await at(tara, '/users')
    await page.getByRole('button', { name: 'Invite a user' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite a user' })
    await dialog.getByLabel('Name').fill('Ada Analyst')
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByLabel('Policy editor').check()
    await dialog.getByLabel('Compliance officer').check()
    await dialog.getByText('The maker of a change must not be its checker.').waitFor()
    await takeScreenshot(page, 'console-invite')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await dialog.getByRole('status').getByText('Waiting for approval').waitFor()
    await takeScreenshot(page, 'console-invite-waits')
    await approveBy(till, dialog)
    await page.reload()
    await page
      .getByRole('row', { name: /Ada Analyst/ })
      .getByText('1 conflict')
      .waitFor()
    expect(seen).toEqual(noProblems)
    await page.getByRole('button', { name: 'Invite a user' }).click()
    await dialog.getByLabel('Name').fill('Nora New')
    await dialog.getByLabel('Email').fill('nora@example.com')
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
    })
    // Both clicks come before the page shows that the first one is being sent.
    await dialog.getByRole('button', { name: 'Send invitation' }).evaluate((button: { click(): void }) => {
      button.click()
      button.click()
    })
    await page.getByText('Nora New invited').waitFor()
    expect(sent).toEqual(['/api/users'])
    expect(seen).toEqual(noProblems)
    await page.getByRole('button', { name: 'Invite a user' }).click()
    await dialog.getByLabel('Name').fill('Ada Again')
    await dialog.getByLabel('Email').fill('ada@example.com')
    await dialog.getByRole('button', { name: 'Send invitation' }).click()
    await dialog.getByRole('alert').getByText('A user with this email address exists already.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    await page.getByRole('link', { name: 'Ada Analyst' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    await expect.poll(() => new URL(page.url()).search).toBe('?role=viewer')
    await close()
  })

  browserTest('can be edited, deactivated and reactivated, and report concurrent changes', async () => {
    const edith = await createPerson('Edith Edited', [], { by: tara })
    const { page, seen, close } = await at(tara, `/users/${edith.user_id}`)
    await page.getByLabel('Team').fill('North')
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Profile saved').waitFor()
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByText('This user is deactivated.').waitFor()
    await page.getByRole('button', { name: 'Reactivate' }).click()
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()
    expect(seen).toEqual(noProblems)
    await w.call(`PATCH /users/${edith.user_id}`, { token: till.token, body: { team: 'East' } })
    await page.getByLabel('Team').fill('South')
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByRole('alert').getByText('Changed by someone else').waitFor()
    await takeScreenshot(page, 'console-stale')
    await page.getByRole('button', { name: 'Reload' }).click()
    await expect.poll(() => page.getByLabel('Team').inputValue()).toBe('East')
    await close()
  })
})

describe('absence', () => {
  browserTest('can be set and ended', async () => {
    const { page, seen, close } = await at(tara, `/users/${till.user_id}`)
    await page.getByText('Available. New work is assigned as usual.').waitFor()
    await page.getByLabel('Away from').fill('2001-01-01T08:00')
    await page.getByLabel('Away until').fill('2000-01-01T08:00')
    await page.getByText('Must be later than the start.').waitFor()
    await page.getByLabel('Away until').fill('2999-12-31T17:30')
    await page.getByRole('button', { name: 'Save absence' }).click()
    await page.getByText('no new work is assigned in this period').waitFor()
    await expect.poll(() => page.getByLabel('Away until').inputValue()).toBe('2999-12-31T17:30')
    await takeScreenshot(page, 'console-away')
    await page.getByRole('button', { name: 'End absence' }).click()
    await page.getByText('Available. New work is assigned as usual.').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})

describe('the own absence', () => {
  browserTest('can be set and ended from the account menu by those who may not open the page of a user', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const { page, seen, close } = await at(anton, '/inbox')
    const dialog = page.getByRole('dialog', { name: 'Absence' })
    const open = async () => {
      await page.getByRole('button', { name: 'Account of Anton Analyst' }).click()
      await page.getByRole('menuitem', { name: 'Absence' }).click()
    }
    await open()
    await dialog.getByText('Available. New work is assigned as usual.').waitFor()
    await dialog.getByLabel('Away from').fill('2001-01-01T08:00')
    await dialog.getByLabel('Away until').fill('2999-12-31T17:30')
    await dialog.getByRole('combobox', { name: 'Reason' }).click()
    await page.getByRole('option', { name: 'Training' }).click()
    await dialog.getByRole('button', { name: 'Save absence' }).click()
    await page.getByText('Absence saved').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    await open()
    await dialog.getByText('(training): no new work is assigned in this period').waitFor()
    // A later end keeps the reason.
    await dialog.getByLabel('Away until').fill('2999-12-31T18:30')
    await dialog.getByRole('button', { name: 'Save absence' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await open()
    await dialog.getByText('(training): no new work is assigned in this period').waitFor()
    await takeScreenshot(page, 'console-own-absence')
    await dialog.getByRole('button', { name: 'End absence' }).click()
    await page.getByText('Absence ended').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    expect(seen).toEqual(noProblems)
    await close()
  })
})

describe('API keys', () => {
  browserTest('can be requested, approved, rotated, used to sign in and revoked', async () => {
    const admin = await at(tara, '/api-keys')
    await admin.page.getByRole('button', { name: 'Create API key' }).click()
    const dialog = admin.page.getByRole('dialog', { name: 'Create API key' })
    await dialog.getByLabel('Name').fill('Nightly import')
    await dialog.getByLabel('Viewer').check()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByText('After approval, rotate the key here to get its secret.').waitFor()
    await takeScreenshot(admin.page, 'console-key-waits')
    await approveBy(till, dialog)
    await admin.page.reload()
    const actions = admin.page.getByRole('button', { name: 'Actions for Nightly import' })
    await actions.click()
    await admin.page.getByRole('menuitem', { name: 'Rotate' }).click()
    await admin.page.getByRole('button', { name: 'Rotate' }).click()
    const once = admin.page.getByRole('dialog', { name: 'Secret of Nightly import' })
    const secret = await once.locator('code, pre').filter({ hasText: 'pk_' }).first().innerText()
    await takeScreenshot(admin.page, 'console-secret')
    await admin.page.keyboard.press('Escape')
    await once.getByRole('button', { name: 'I have stored it' }).click()
    await once.waitFor({ state: 'hidden' })
    expect(await admin.page.content()).not.toContain(secret)

    const machine = await openPage(browser, base, '/sign-in')
    await signIn(machine.page, secret)
    await machine.page.getByText('Signed in as Nightly import.').waitFor()
    await navigation(machine.page).getByRole('link', { name: 'Jobs' }).waitFor()
    await expect.poll(() => navigation(machine.page).getByRole('link', { name: 'Users' }).count()).toBe(0)
    await machine.page.reload()
    await machine.page.getByText('Signed in as Nightly import.').waitFor()

    await w.runtime.flushUsage()
    await actions.click()
    await admin.page.getByRole('menuitem', { name: 'Usage' }).click()
    const usage = admin.page.getByRole('dialog', { name: 'Usage of Nightly import' })
    await usage.getByRole('table', { name: 'Calls by operation' }).getByText('Get me').waitFor()
    await usage.getByRole('img', { name: 'Calls per day over the last 31 days' }).waitFor()
    await takeScreenshot(admin.page, 'console-usage')
    await admin.page.keyboard.press('Escape')
    await usage.waitFor({ state: 'hidden' })
    await actions.click()
    await admin.page.getByRole('menuitem', { name: 'Revoke' }).click()
    await admin.page.getByRole('button', { name: 'Revoke' }).click()
    await admin.page
      .getByRole('row', { name: /Nightly import/ })
      .getByText('revoked')
      .waitFor()
    await navigation(machine.page).getByRole('link', { name: 'Jobs' }).click()
    await machine.page.getByRole('status').getByText('The API key is not valid').waitFor()
    expect(admin.seen).toEqual(noProblems)
    expect({ ...machine.seen, failed: [] }).toEqual(noProblems)
    await Promise.all([admin.close(), machine.close()])
  })
})
