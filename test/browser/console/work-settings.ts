/** Settings of the inbox: an officer moves the work of one person to another, and chooses the business calendar. */
import type { Locator } from 'playwright-core'
import { describe, expect } from 'vitest'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { at, browserTest, createPerson, noProblems, type Person, w } from './setup.ts'

async function report(who: Person, key: string): Promise<void> {
  const body = {
    source: 'payment-monitor',
    dedup_key: key,
    title: `Payment ${key} is unusual`,
    priority: 'medium',
    facts: [{ name: 'payment', value: key }],
  }
  const { status } = await w.call('POST /alerts', { token: who.token, body })
  expect(status).toBe(201)
}

async function choose(within: Locator, label: string, text: string): Promise<void> {
  await within.getByRole('combobox', { name: label }).fill(text)
  await within
    .page()
    .getByRole('option', { name: new RegExp(text) })
    .click()
}

describe('the settings of the inbox', () => {
  browserTest('move the work of one person to another and choose the business calendar', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    await createPerson('Beata Analyst', ['analyst'], { tenant })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    for (const key of ['one', 'two']) {
      await report(anton, key)
      await w.call('POST /alerts/claim', { token: anton.token, body: {} })
    }
    const { page, seen, close } = await at(clara, '/inbox')
    await page.getByRole('tab', { name: 'Settings' }).click()
    const work = page.getByRole('region', { name: 'Move work' })
    const rows = work.getByRole('table', { name: 'Open work' }).getByRole('row')
    await choose(work, 'Work of', 'Clara Compliance')
    await work.getByText('No open work').waitFor()

    await choose(work, 'Work of', 'Anton Analyst')
    await rows.filter({ hasText: 'Payment one is unusual' }).waitFor()
    await expectFitsScreens(page, 'console-inbox-settings')
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.emulateMedia({ colorScheme: 'light' })
    await work.getByRole('button', { name: 'Move 2 items' }).click()
    const move = page.getByRole('dialog', { name: 'Move 2 items' })
    await choose(move, 'Person', 'Beata Analyst')
    await move.getByLabel('Reason').fill('Anton is away for two weeks')
    await takeScreenshot(page, 'console-move-work')
    await move.getByRole('button', { name: 'Move' }).click()
    await page.getByText('2 items moved').waitFor()
    await work.getByText('No open work').waitFor()

    await choose(work, 'Work of', 'Beata Analyst')
    await rows.filter({ hasText: 'Payment two is unusual' }).getByRole('checkbox').uncheck()
    await work.getByRole('button', { name: 'Move 1 item' }).click()
    const back = page.getByRole('dialog', { name: 'Move 1 item' })
    await back.getByText('Back to the queues').click()
    await back.getByLabel('Reason').fill('Nobody has begun with it')
    await back.getByRole('button', { name: 'Return' }).click()
    await page.getByText('1 item returned to the queues').waitFor()
    await rows.filter({ hasText: 'Payment one is unusual' }).waitFor({ state: 'hidden' })
    await rows.filter({ hasText: 'Payment two is unusual' }).waitFor()

    const calendar = page.getByRole('region', { name: 'Business calendar' })
    await calendar.getByText('Never changed.').waitFor()
    await choose(calendar, 'Calendar', 'TARGET closing days')
    await calendar.getByRole('button', { name: 'Save calendar' }).click()
    const change = page.getByRole('dialog', { name: 'Change the business calendar' })
    await change.getByText('Due times that were computed stay.').waitFor()
    await takeScreenshot(page, 'console-business-calendar')
    await change.getByRole('button', { name: 'Change' }).click()
    await page.getByText('Business calendar saved').waitFor()
    await calendar.getByText('Chosen by you').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})
